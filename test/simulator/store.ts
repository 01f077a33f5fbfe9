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
  ) {}

  get run(): string {
    return `run${this.runs}`;
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
      .replaceAll(/redis\.p?call\('INFO', 'server'\)/g, "('run_id:' .. KEYS[4])");
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

/** The process is gone, in the middle of whatever it did. */
export class Died extends Error {}

/** One process's connection: its replies get lost, it freezes before it hears one, and it dies with its process. */
export class Link {
  dead = false;
  /** Replies still to lose; each is asked for again. */
  losing = 0;
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
      const answer: unknown = Reflect.apply(value, target, args);
      return answer;
    };
  }

  private async script(ask: () => Promise<unknown> | undefined): Promise<unknown> {
    if (this.dead) throw new Died();
    const asked = ask();
    if (asked === undefined) throw new Error('NOSCRIPT it was never loaded');
    const reply = await asked;
    if (this.freezingIn !== null) {
      if (this.freezingIn <= 0) await this.freeze();
      else this.freezingIn -= 1;
    }
    if (this.dead) throw new Died();
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
