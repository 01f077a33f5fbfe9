import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clocks } from './clocks.js';

/**
 * The store: a real Redis with a clock and a run_id that are played. Scripts are rewritten as they are loaded:
 * where they ask Redis for the time or for its run_id they get what comes with the call. So days pass and
 * servers are replaced without anybody waiting or restarting.
 */
export class Store {
  private runs = 1;

  constructor(
    readonly redis: Redis,
    readonly clocks: Clocks,
    /** It does not say which server it is. */
    private readonly deniesInfo: boolean,
  ) {}

  get run(): string {
    return this.deniesInfo ? '' : `run${this.runs}`;
  }

  /** Another server answers from here on, with the same data. */
  restart(): void {
    this.runs += 1;
  }

  now(): [seconds: number, micros: number] {
    const ms = Math.floor(this.clocks.storeMs);
    return [Math.floor(ms / 1000), (ms % 1000) * 1000];
  }

  /** Undefined for a script that was never loaded. */
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
   * All keys of a realm as they stand. The answer puts them back: on another server than they were taken from, unless
   * it is `sameServer` that got a backup's data (REPLICAOF the backup, then NO ONE).
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

/** By server, from the script's own name to that of the rewritten one. */
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

/** What a store, or the way to it, may say instead of an answer. `done`: it has done what was asked all the same. */
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

/** The process is gone, in the middle of whatever it did. */
export class Died extends Error {}

/** Single commands of the program; a list of commands in one call is not refused. */
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

/** One process's connection: its replies get lost, it freezes before it hears one, and it dies with its process. */
export class Link {
  dead = false;
  /** Replies still to lose; each is asked for again. */
  losing = 0;
  /** What the next calls are answered with instead. */
  refusals: Refusal[] = [];
  /** How many scripts are still answered before the process freezes; null: it does not. */
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
