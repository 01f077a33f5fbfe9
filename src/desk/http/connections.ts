import type { Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AlmonerError } from '../../core/errors/error.js';
import { ACCESSES, type Identity } from './access/tokens.js';

export type UploadLimits = {
  readonly bytesMax: number;
  readonly filesMax: number;
  /** Without a byte for so long the upload is over. */
  readonly idleMs: number;
  /** After a first grace of `idleMs` the average must not fall below this: a byte now and then is an attack. */
  readonly bytesPerSecondMin: number;
};

export const UPLOAD_LIMITS: UploadLimits = {
  bytesMax: 512 * 2 ** 20,
  filesMax: 16,
  idleMs: 15_000,
  bytesPerSecondMin: 1024,
};

/** Counts what passes and breaks off what is too large or too slow. */
export class UploadWatch extends Transform {
  bytes = 0;
  private readonly startedAt = performance.now();
  private lastAt = this.startedAt;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly limits: UploadLimits) {
    super();
    this.timer = setInterval(() => this.check(), Math.min(1000, limits.idleMs / 4));
    this.timer.unref();
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.lastAt = performance.now();
    if (this.bytes <= this.limits.bytesMax) done(null, chunk);
    else done(tooLarge(this.limits));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.timer);
    done(error);
  }

  private check(): void {
    const now = performance.now();
    const idle = now - this.lastAt > this.limits.idleMs;
    const elapsed = now - this.startedAt;
    const slow =
      elapsed > this.limits.idleMs && this.bytes < (elapsed / 1000) * this.limits.bytesPerSecondMin;
    if (idle || slow)
      this.destroy(
        new AlmonerError('ALM_DESK_UPLOAD_BROKEN', 'The upload came too slowly. Nothing of it was kept.'),
      );
  }
}

export function tooLarge({ bytesMax }: UploadLimits): AlmonerError {
  const size = bytesMax >= 2 ** 20 ? `${Math.floor(bytesMax / 2 ** 20)} MiB` : `${bytesMax} bytes`;
  return new AlmonerError(
    'ALM_DESK_UPLOAD_TOO_LARGE',
    `The file is larger than the ${size} that the desk takes. Nothing of it was kept.`,
  );
}

/** Of all places, those that are kept for connections over which nobody was admitted yet. */
const NEWCOMERS = 1 / 4;

type Holder = { readonly rank: number; readonly sockets: Set<Socket> };

/**
 * At most so many connections, and nobody is turned away: where all are taken, one gives way. Strangers have a share
 * for themselves, because everybody is one until the first request is read: where it is used up, the stranger's gives
 * way that came longest ago. Otherwise it is one of the token that holds most, a viewer's before an operator's, and
 * the one that was of use longest ago. So nobody keeps an operator out, from however many addresses, with a token or
 * without. A share for each address would not do that: behind a proxy, and on this machine, all have one.
 */
export class Connections {
  private readonly strangers: Holder = { rank: ACCESSES.indexOf('anyone'), sockets: new Set() };
  /** By token; the sockets of each in the order in which they were of use. */
  private readonly known = new Map<string, Holder>();
  private readonly holderOf = new Map<Socket, Holder>();

  constructor(private readonly most: number) {}

  add(socket: Socket): void {
    if (this.holderOf.size >= this.most) {
      const [least] = this.givesWay().sockets;
      least?.destroy();
      if (least !== undefined) this.leave(least);
    }
    this.take(socket, this.strangers);
    socket.once('close', () => this.leave(socket));
  }

  admitted(socket: Socket, { role, tokenHash }: Pick<Identity, 'role' | 'tokenHash'>): void {
    if (!this.leave(socket)) return;
    const holder = this.known.get(tokenHash) ?? { rank: ACCESSES.indexOf(role), sockets: new Set() };
    this.known.set(tokenHash, holder);
    this.take(socket, holder);
  }

  private givesWay(): Holder {
    if (this.strangers.sockets.size >= this.most * NEWCOMERS) return this.strangers;
    let found: Holder | undefined;
    for (const holder of this.known.values()) {
      if (holder.sockets.size === 0) continue;
      const lower = (found?.rank ?? ACCESSES.length) - holder.rank;
      if (lower > 0 || (lower === 0 && holder.sockets.size > (found?.sockets.size ?? 0))) found = holder;
    }
    return found ?? this.strangers;
  }

  private take(socket: Socket, holder: Holder): void {
    holder.sockets.add(socket);
    this.holderOf.set(socket, holder);
  }

  private leave(socket: Socket): boolean {
    const holder = this.holderOf.get(socket);
    holder?.sockets.delete(socket);
    return this.holderOf.delete(socket);
  }
}

/**
 * A body that trickles holds a connection, whether or not anybody reads it. `unlimited` is for uploads, which
 * watch over themselves once somebody takes them.
 */
export function limitBodies(
  app: FastifyInstance,
  bodyMs: number,
): { unlimited(request: FastifyRequest): void } {
  const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('onRequest', async (request) => {
    const { raw } = request;
    const timer = setTimeout(() => raw.complete || raw.socket.destroy(), bodyMs).unref();
    timers.set(request, timer);
    raw.once('close', () => clearTimeout(timer));
  });
  // What is left of a body would be waited for, and then be taken for the next request.
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!raw.complete) reply.header('connection', 'close');
  });
  return { unlimited: (request) => clearTimeout(timers.get(request)) };
}
