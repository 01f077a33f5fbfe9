import type { Socket } from 'node:net';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { stringify } from 'lossless-json';
import type { Answer } from './answer.js';

const CONTENT_TYPE = 'application/json; charset=utf-8';

/** The ways in which a request can end on the wire: a complete answer, or one of the rehearsed faults. */
export type Wire = {
  send(answer: Answer): void;
  /** Delays the call. A closing service ends the delay and serves the call immediately. */
  wait(ms: number): Promise<void>;
  /** Sends no answer until the caller leaves, the time is over or the service closes. */
  hang(closeAfterMs: number): Promise<void>;
  /** Closes the connection with RST, as a crashed peer does. */
  reset(): void;
  /** Announces the whole body, sends part of it and closes the connection. */
  truncate(answer: Answer, bytes: number): void;
};

/** Opens the wire of one request over its HTTP reply. */
export function openWire(reply: FastifyReply, requestId: string, closing: AbortSignal): Wire {
  const socket = reply.raw.socket;
  return {
    send: (answer) => void sendAnswer(reply, requestId, answer),

    wait: (ms) => setTimeoutPromise(ms, undefined, { signal: closing }).catch(() => {}),

    async hang(closeAfterMs) {
      reply.hijack();
      if (socket !== null) await silence(socket, closeAfterMs, closing);
    },

    reset() {
      reply.hijack();
      socket?.resetAndDestroy();
    },

    truncate(answer, bytes) {
      reply.hijack();
      const body = Buffer.from(bodyText(answer, requestId));
      const kept = Math.min(bytes === 0 ? Math.floor(body.length / 2) : bytes, body.length - 1);
      const headers = { ...reply.getHeaders(), ...answer.headers, 'content-type': CONTENT_TYPE };
      for (const [name, value] of Object.entries(headers)) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      reply.raw.writeHead(answer.status, { 'content-length': body.length });
      reply.raw.write(body.subarray(0, kept), () => socket?.destroy());
    },
  };
}

/** Sends a complete answer. Errors also carry the request id, so that a caller can quote it. */
export function sendAnswer(reply: FastifyReply, requestId: string, answer: Answer): FastifyReply {
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .header('content-type', CONTENT_TYPE)
    .send(bodyText(answer, requestId));
}

function bodyText(answer: Answer, requestId: string): string {
  const body = answer.status < 400 ? answer.body : { ...answer.body, requestId };
  return stringify(body) ?? '{}';
}

/** Keeps the socket open without an answer. */
async function silence(socket: Socket, closeAfterMs: number, closing: AbortSignal): Promise<void> {
  if (socket.destroyed) return;
  await new Promise<void>((resolve) => {
    const end = () => socket.destroy();
    const timer = closeAfterMs > 0 ? setTimeout(end, closeAfterMs) : undefined;
    socket.once('close', () => {
      clearTimeout(timer);
      closing.removeEventListener('abort', end);
      resolve();
    });
    // Node stops reading from a socket with an unanswered request. Without `resume`, a caller that leaves would go
    // unnoticed.
    socket.resume();
    if (closing.aborted) end();
    else closing.addEventListener('abort', end, { once: true });
  });
}
