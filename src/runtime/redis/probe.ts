import { connect } from 'node:net';
import { hasCode } from '../../core/errors/error.js';

/** What answers at the folder's port. */
export type Probe =
  | { readonly kind: 'absent' }
  /** Our server: it accepted our password. */
  | { readonly kind: 'ours'; readonly pid: number; readonly loading: boolean }
  /** The connection closed, or no answer came in time: a server that is starting, ending or very busy. */
  | { readonly kind: 'unclear'; readonly seen: string }
  /** `asksPassword`: a Redis that refuses our password. */
  | { readonly kind: 'foreign'; readonly seen: string; readonly asksPassword: boolean };

const ANSWER_LIMIT_MS = 2000;
const SHOWN_MAX = 80;

/**
 * Finds out who holds the port. It speaks the protocol directly, because ioredis takes a server without a password
 * for ours, and cannot tell a foreign server from one that is stopping.
 */
export function probePort(
  port: number,
  password: string,
  answerMs: number = ANSWER_LIMIT_MS,
): Promise<Probe> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ host: '127.0.0.1', port });
    const finish = (probe: Probe) => {
      socket.destroy();
      resolve(probe);
    };
    socket.setTimeout(answerMs, () =>
      finish({ kind: 'unclear', seen: 'it accepts the connection but does not answer' }),
    );
    socket.on('connect', () =>
      socket.write(command('AUTH', password) + command('INFO', 'server') + command('INFO', 'persistence')),
    );
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answer += chunk;
      const probe = readAnswer(answer);
      if (probe !== null) finish(probe);
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish(error.code === 'ECONNREFUSED' ? { kind: 'absent' } : { kind: 'unclear', seen: error.message }),
    );
    socket.on('close', () => finish({ kind: 'unclear', seen: 'it closes the connection' }));
  });
}

/** Classifies the server by its reply; null while the reply is incomplete. */
function readAnswer(answer: string): Probe | null {
  const end = answer.indexOf('\r\n');
  if (end === -1 && answer.length <= SHOWN_MAX) return null;
  const first = (end === -1 ? answer : answer.slice(0, end)).slice(0, SHOWN_MAX);
  if (first.startsWith('-ERR max number of clients')) return { kind: 'unclear', seen: first };
  if (first !== '+OK') {
    const asksPassword = first.startsWith('-WRONGPASS');
    return { kind: 'foreign', seen: `it answers ${JSON.stringify(first)}`, asksPassword };
  }
  const pid = /\r\nprocess_id:([0-9]+)\r\n/.exec(answer)?.[1];
  const loading = /\r\nloading:([01])\r\n/.exec(answer)?.[1];
  if (pid === undefined || loading === undefined) return null;
  return { kind: 'ours', pid: Number(pid), loading: loading === '1' };
}

/** One command in the Redis protocol. */
export function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** True if the process exists. A process of another user refuses the signal, but exists too. */
export function lives(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
