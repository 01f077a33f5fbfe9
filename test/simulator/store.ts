import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clocks } from './clocks.js';

/**
 * The store: a real Redis with a simulated clock and run_id. Scripts are rewritten when they are loaded: a script that
 * asks Redis for the time or the run_id gets the value that comes with the call. So days pass and servers are replaced
 * without waiting or restarts.
 */
export class Store {
  private runs = 1;

  constructor(
    readonly redis: Redis,
    readonly clocks: Clocks,
    /** The server does not reveal its identity. */
    private readonly deniesInfo: boolean,
  ) {}

  get run(): string {
    return this.deniesInfo ? '' : `run${this.runs}`;
  }

  /** From now on another server answers with the same data. */
  restart(): void {
    this.runs += 1;
  }

  now(): [seconds: number, micros: number] {
    const ms = Math.floor(this.clocks.storeMs);
    return [Math.floor(ms / 1000), (ms % 1000) * 1000];
  }

  /** Undefined if the script was never loaded. */
  evalsha(sha: string, realm: string, args: readonly unknown[]): Promise<unknown> | undefined {
    const known = loaded.get(this.redis)?.get(sha);
    if (known === undefined) return undefined;
    const [seconds, micros] = this.now();
    return this.redis.evalsha(known, 4, realm, String(seconds), String(micros), this.run, ...plain(args));
  }

  async load(text: string): Promise<string> {
    const played = text
      .replaceAll(/redis\.p?call\('TIME'\)/g, '{ KEYS[2], KEYS[3] }')
      .replaceAll(
        /redis\.p?call\('INFO', 'server'\)/g,
        "(KEYS[4] == '' and { err = 'NOPERM' } or 'run_id:' .. KEYS[4])",
      );
    if (/'(TIME|INFO)'/.test(played))
      throw new Error('a script asks for the time in a way that is not played');
    const sha = createHash('sha1').update(text).digest('hex');
    const known = loaded.get(this.redis) ?? new Map<string, string>();
    loaded.set(this.redis, known);
    known.set(sha, String(await this.redis.script('LOAD', played)));
    return sha;
  }

  /**
   * Copies all keys of a realm. The returned function restores them: on another server, or on the `sameServer` that
   * loads a backup (REPLICAOF the backup, then NO ONE).
   */
  async photograph(realm: string): Promise<(sameServer: boolean) => Promise<void>> {
    const kept = await this.redis.callBuffer('EVAL', PHOTOGRAPH, 0, `${realm}*`);
    if (!Array.isArray(kept)) throw new TypeError('expected a list of keys');
    return async (sameServer) => {
      await this.redis.call('EVAL', RESTORE, 0, `${realm}*`, ...plain(kept));
      if (!sameServer) this.restart();
    };
  }

  async empty(): Promise<void> {
    await this.redis.flushdb();
  }
}

/** By server: maps a script's own hash to that of the rewritten script. */
const loaded = new WeakMap<Redis, Map<string, string>>();

const PHOTOGRAPH = `
local kept = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  kept[#kept + 1] = key
  kept[#kept + 1] = redis.call('DUMP', key)
end
return kept`;

const RESTORE = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end
for i = 2, #ARGV, 2 do redis.call('RESTORE', ARGV[i], 0, ARGV[i + 1]) end`;

function plain(args: readonly unknown[]): (string | number | Buffer)[] {
  return args.map((arg) => {
    if (typeof arg === 'string' || typeof arg === 'number' || Buffer.isBuffer(arg)) return arg;
    throw new TypeError(`the store cannot take a ${typeof arg}`);
  });
}

/**
 * Errors that a store, or the connection to it, may return instead of a reply. `done`: the store has executed the call
 * nevertheless.
 */
const REFUSALS = {
  'out of memory': {
    name: 'ReplyError',
    text: "OOM command not allowed when used memory > 'maxmemory'.",
    done: false,
  },
  'out of memory in a script': {
    name: 'ReplyError',
    text: 'ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed',
    done: false,
  },
  'read only': {
    name: 'ReplyError',
    text: "READONLY You can't write against a read only replica.",
    done: false,
  },
  'cluster down': { name: 'ReplyError', text: 'CLUSTERDOWN Hash slot not served', done: false },
  'no node': { name: 'ClusterAllFailedError', text: 'Failed to refresh slots cache.', done: false },
  'too many tries': {
    name: 'MaxRetriesPerRequestError',
    text: 'Reached the max retries per request limit',
    done: true,
  },
  closed: { name: 'Error', text: 'Connection is closed.', done: true },
  'never heard of': { name: 'ReplyError', text: 'WHATEVER this is, it was not done', done: false },
} as const satisfies Record<string, { name: string; text: string; done: boolean }>;
export type Refusal = keyof typeof REFUSALS;

export const REFUSAL_NAMES: readonly [Refusal, ...Refusal[]] = [
  'out of memory',
  'out of memory in a script',
  'read only',
  'cluster down',
  'no node',
  'too many tries',
  'closed',
  'never heard of',
];

function errorOf(refusal: Refusal): Error {
  const { name, text } = REFUSALS[refusal];
  return Object.assign(new Error(text), { name });
}

/** The process died in the middle of its work. */
export class Died extends Error {}

/** Single commands of the program that may be refused. A pipeline of several commands is never refused. */
const COMMANDS: ReadonlySet<string> = new Set([
  'get',
  'hget',
  'hmget',
  'hgetall',
  'lrange',
  'smembers',
  'zrange',
  'zrangebyscore',
]);

/**
 * The connection of one process. Its replies get lost, the process freezes before it reads one, and it dies with its
 * process.
 */
export class Link {
  dead = false;
  /** The number of replies still to lose; each call is then repeated. */
  losing = 0;
  /** The errors that the next calls get instead. */
  refusals: Refusal[] = [];
  /** How many script replies remain before the process freezes; null: it does not freeze. */
  freezingIn: number | null = null;
  readonly redis: Redis;
  private readonly bound = new Map<PropertyKey, unknown>();
  private thawed: (() => void) | undefined;

  constructor(
    private readonly store: Store,
    private readonly onFrozen: () => void,
  ) {
    this.redis = new Proxy(store.redis, { get: (target, name) => this.property(target, name) });
  }

  thaw(): void {
    this.freezingIn = null;
    this.thawed?.();
    this.thawed = undefined;
  }

  private property(target: Redis, name: PropertyKey): unknown {
    const known = this.bound.get(name);
    if (known !== undefined) return known;
    const made = this.make(target, name);
    if (typeof made === 'function') this.bound.set(name, made);
    return made;
  }

  private make(target: Redis, name: PropertyKey): unknown {
    if (name === 'evalsha')
      return (sha: string, _keys: number, realm: string, ...args: unknown[]) =>
        this.script(() => this.store.evalsha(sha, realm, args));
    if (name === 'eval')
      return async (text: string, _keys: number, realm: string, ...args: unknown[]) => {
        const sha = await this.store.load(text);
        return this.script(() => this.store.evalsha(sha, realm, args));
      };
    if (name === 'status') return this.dead ? 'end' : target.status;
    if (name === 'time')
      return () => (this.dead ? Promise.reject(new Died()) : Promise.resolve(this.store.now()));
    const value: unknown = Reflect.get(target, name);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]) => {
      if (this.dead) throw new Died();
      const refusal = typeof name === 'string' && COMMANDS.has(name) ? this.refusals.shift() : undefined;
      if (refusal !== undefined && !REFUSALS[refusal].done) return Promise.reject(errorOf(refusal));
      const answer: unknown = Reflect.apply(value, target, args);
      return refusal === undefined
        ? answer
        : Promise.resolve(answer).then(() => Promise.reject(errorOf(refusal)));
    };
  }

  private async script(ask: () => Promise<unknown> | undefined): Promise<unknown> {
    if (this.dead) throw new Died();
    const refusal = this.refusals.shift();
    if (refusal !== undefined && !REFUSALS[refusal].done) throw errorOf(refusal);
    const asked = ask();
    if (asked === undefined) throw new Error('NOSCRIPT it was never loaded');
    const reply = await asked;
    if (this.freezingIn !== null) {
      if (this.freezingIn <= 0) await this.freeze();
      else this.freezingIn -= 1;
    }
    if (this.dead) throw new Died();
    if (refusal !== undefined) throw errorOf(refusal);
    if (this.losing <= 0) return reply;
    this.losing -= 1;
    throw Object.assign(new Error('the reply was lost'), { code: 'ECONNRESET' });
  }

  private freeze(): Promise<void> {
    return new Promise((resolve) => {
      const before = this.thawed;
      this.thawed = () => {
        before?.();
        resolve();
      };
      this.onFrozen();
    });
  }
}
