import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { AlmonerError, messageOf } from '../core/errors/error.js';
import { Here } from './here/liveness.js';
import { LEDGER_SCRIPTS } from './lua-scripts.js';

/**
 * Calls the ledger's scripts. The ledger's connection resends nothing by itself: when a reply is lost, the
 * same call is made again with the same nonce, and the script gives the answer it gave before.
 */

/**
 * Refusals that usually end by themselves. Reads, claims and a person's commands wait for their end. This list does not
 * decide whether the result of a request is offered again: every error does that (see moves/offers.ts).
 * Redis before 7.0 puts the line of the script before the text: `@user_script: 12: -OOM command not allowed`.
 */
const PASSING =
  /(?:^|\s-?)(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS)(?:\s|$)/;

/** The error that a script gives as its answer to one order. */
class StoreRefused extends Error {}

export type Argument = string | number | Buffer;

/** What is told in passing has so long before the connection closes. */
const ASIDES_LIMIT_MS = 2_000;

type ScriptOptions = {
  /** Where the rows of archived batches are; null where nothing is ever archived. */
  readonly archiveFolder?: string | null;
  /** Where this process is, and so who else can be told to live or not. */
  readonly here?: Here;
  /**
   * For how long one question may stay unanswered. A store that hangs fails nothing until its connection is given
   * up, and patience counts only what has failed: a caller that must answer soon itself sets this as well.
   */
  readonly answerMs?: number;
  /** The calls of the client that this one shares its connection with. */
  readonly calls?: CallsUnderWay;
};

/** What is under way on one connection, whatever the patience of the caller. */
class CallsUnderWay {
  readonly asides = new Set<Promise<unknown>>();
  /** Calls under way that the store has failed to do at least once. */
  readonly inVain = new Set<object>();
  readonly left = new AbortController();
}

export class ScriptClient {
  readonly archiveFolder: string | null;
  readonly here: Here;
  readonly answerMs: number;
  private readonly calls: CallsUnderWay;

  constructor(
    readonly redis: Redis,
    /** How long a call is asked again while the store does not answer; workers wait for ever. */
    readonly patienceMs: number,
    private readonly onTrouble: (message: string) => void,
    options: ScriptOptions = {},
  ) {
    this.archiveFolder = options.archiveFolder ?? null;
    this.here = options.here ?? new Here(null);
    this.answerMs = options.answerMs ?? Number.POSITIVE_INFINITY;
    this.calls = options.calls ?? new CallsUnderWay();
  }

  /** The same connection, asked for another time. */
  patient(patienceMs: number, answerMs = this.answerMs): ScriptClient {
    const { redis, onTrouble, archiveFolder, here, calls } = this;
    return new ScriptClient(redis, patienceMs, onTrouble, { archiveFolder, here, answerMs, calls });
  }

  script(
    name: string,
    realm: string,
    args: readonly Argument[],
    /** For a script that wants to know that it is asked again. */
    argsAgain: readonly Argument[] = args,
  ): Promise<unknown> {
    let given = args;
    return this.ask(name, () => {
      const call = this.once(name, [realm], given);
      given = argsAgain;
      return call;
    });
  }

  /** Work that nobody waits for; but it ends before the connection does. */
  aside(work: Promise<unknown>): void {
    const ended = work.catch(() => {});
    this.calls.asides.add(ended);
    void ended.then(() => this.calls.asides.delete(ended));
  }

  /** To be awaited before the connection is closed; a store that is away does not hold up the end. */
  async settled(): Promise<void> {
    const limit = new AbortController();
    const late = sleep(ASIDES_LIMIT_MS, false, { signal: limit.signal }).catch(() => false);
    let inTime: unknown = true;
    while (this.calls.asides.size > 0 && inTime)
      inTime = await Promise.race([Promise.all(this.calls.asides), late]);
    limit.abort();
  }

  /**
   * A script that takes a list of orders and answers each. An error is the answer of that order alone. The call is
   * repeated only while the store gives no answer at all: a refusal goes to the caller, so that it delays nobody else.
   */
  async orders(
    name: string,
    realm: string,
    head: readonly Argument[],
    orders: readonly unknown[],
  ): Promise<(string[] | Error)[]> {
    const list = JSON.stringify(orders);
    const reply = await this.ask(name, () => this.once(name, [realm], [...head, list]), isAway);
    const replies: unknown = JSON.parse(String(reply));
    if (!Array.isArray(replies)) throw new TypeError(`expected a list from the script ${name}`);
    return replies.map((one) => {
      const answers = texts(one);
      const [answer, message = ''] = answers;
      return answer === 'error' ? new StoreRefused(`${name}: ${message}`) : answers;
    });
  }

  /** One call of one script. It is not repeated: `ask` does that where the caller may. */
  async once(name: string, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const script = LEDGER_SCRIPTS.get(name);
    if (script === undefined) throw new TypeError(`no script named ${name}`);
    try {
      return await this.redis.evalsha(script.sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
      return await this.redis.eval(script.text, keys.length, ...keys, ...args);
    }
  }

  /** Asked again while the store is away: for reads, and for writes that do no harm when done twice. */
  async ask<T>(
    what: string,
    question: (redis: Redis) => Promise<T>,
    /** The errors after which it is asked again. */
    again: (error: unknown) => boolean = isPassing,
  ): Promise<T> {
    const begun = performance.now();
    const call = {};
    try {
      for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
        this.calls.left.signal.throwIfAborted();
        try {
          const answer = await inTime(question(this.redis), this.answerMs);
          if (answer !== LATE) return answer;
          throw new AlmonerError(
            'ALM_STORE_UNREACHABLE',
            `Redis has not answered within ${Math.round(this.answerMs / 1000)} s; the ledger says nothing of what was asked (${what}).`,
          );
        } catch (error) {
          // What this process has closed itself never answers again.
          if (!again(error) || this.isClosed) throw error;
          const waitedMs = performance.now() - begun;
          if (waitedMs > this.patienceMs)
            throw new AlmonerError(
              'ALM_STORE_UNREACHABLE',
              `Redis did not answer for ${Math.round(waitedMs / 1000)} s (${messageOf(error)}); the ledger says nothing of what was asked last (${what}).`,
              { cause: error },
            );
          this.calls.inVain.add(call);
          this.onTrouble(`${what}: ${messageOf(error)}`);
          await sleep(pauseMs);
        }
      }
    } finally {
      this.calls.inVain.delete(call);
    }
  }

  /** Whether this process has closed the connection: the store answers nothing any more. */
  get isClosed(): boolean {
    return this.redis.status === 'end' || this.calls.left.signal.aborted;
  }

  /** Whether the store does what it is asked. One that refuses writes answers reads all the same. */
  async answers(): Promise<boolean> {
    const answered = await inTime(this.redis.time(), ANSWERS_WITHIN_MS).catch(() => LATE);
    if (answered === LATE) return false;
    // Whoever sleeps may not know yet that it is back.
    if (this.calls.inVain.size > 0) await sleep(ANSWERS_WITHIN_MS);
    return this.calls.inVain.size === 0;
  }

  /** Nothing is asked any more, also by those who would have waited without end. */
  leave(): void {
    this.calls.left.abort(new AlmonerError('ALM_STORE_UNREACHABLE', 'Redis is not waited for any longer.'));
  }
}

const PAUSE_MAX_MS = 1_000;
const ANSWERS_WITHIN_MS = PAUSE_MAX_MS + 500;

export const LATE = Symbol('no answer in time');

/** The answer, where it comes in time. */
export async function inTime<T>(answer: Promise<T>, limitMs: number): Promise<T | typeof LATE> {
  if (!Number.isFinite(limitMs)) return answer;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, limitMs, LATE);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function isPassing(error: unknown): boolean {
  const answered = error instanceof StoreRefused || (error instanceof Error && error.name === 'ReplyError');
  return answered ? PASSING.test(error.message) : isAway(error);
}

/**
 * Whether the store gave no answer: the connection failed, or the client could not find the node. Everything counts but
 * a reply of the store and a fault of this program. A list of texts would miss some: ioredis has a dozen for a cluster.
 */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof StoreRefused || error.name === 'ReplyError') return false;
  return !FAULTS.some((kind) => error instanceof kind);
}

const FAULTS = [AlmonerError, z.ZodError, TypeError, RangeError, SyntaxError, ReferenceError];

const NONCE_BYTES = 9;
let random = Buffer.alloc(0);

/** One per call: a call whose reply was lost is made again with it and counts once. */
export function newNonce(): string {
  // A visit to the system's randomness for each costs more than the rest of the call.
  if (random.length < NONCE_BYTES) random = randomBytes(NONCE_BYTES * 256);
  const nonce = random.toString('base64url', 0, NONCE_BYTES);
  random = random.subarray(NONCE_BYTES);
  return nonce;
}

/** A Lua reply read as a list of strings; anything else is a bug of ours. */
export function texts(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw new TypeError(`expected a list from the script, got ${typeof reply}`);
  return reply.map((item) => (item === null ? '' : String(item)));
}

/** Lua cannot tell an empty list from an empty table. */
export function listFromLua(json: string): unknown[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value : [];
}
