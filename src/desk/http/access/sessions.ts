import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ScriptClient } from '../../../ledger/index.js';
import { hashOf, type Identity, ROLES } from './tokens.js';

/**
 * Sessions live in the store under the hash of their cookie, so that neither a restart of the desk nor a
 * second desk asks people to sign in again, and a reader of the store cannot become anybody. Idle sessions
 * end by expiry; the absolute end is checked besides.
 */
const PREFIX = 'almoner:desk:session:';
/** All of one token, by its hash. */
const OF_TOKEN = 'almoner:desk:sessions:';
/** Of one token: a person with several browsers, or a few who share it. */
const OF_TOKEN_MAX = 20;
export const IDLE_MS = 2 * 60 * 60 * 1000;
/** A day's shift with the tab open, and some. */
export const ABSOLUTE_MS = 36 * 60 * 60 * 1000;

const stored = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  tokenHash: z.string(),
  csrf: z.string(),
  endsAt: z.number(),
});

export type DeskSession = Identity & {
  readonly key: string;
  readonly csrf: string;
  readonly endsAt: number;
  readonly idleUntil: number;
};

export class Sessions {
  constructor(
    private readonly scripts: ScriptClient,
    private readonly now: () => number,
  ) {}

  async begin(identity: Identity): Promise<{ cookie: string; session: DeskSession }> {
    const cookie = randomBytes(32).toString('base64url');
    const key = `${PREFIX}${hashOf(cookie)}`;
    const now = this.now();
    const entry = { ...identity, csrf: randomBytes(32).toString('base64url'), endsAt: now + ABSOLUTE_MS };
    await this.ask((redis) => redis.set(key, JSON.stringify(entry), 'PX', IDLE_MS));
    await this.makeRoom(key, identity.tokenHash);
    return { cookie, session: { ...entry, key, idleUntil: now + IDLE_MS } };
  }

  /** The session of a cookie, kept alive by being asked for. */
  find(cookie: string): Promise<DeskSession | null> {
    return this.touch(`${PREFIX}${hashOf(cookie)}`);
  }

  async touch(key: string): Promise<DeskSession | null> {
    const json = await this.ask((redis) => redis.getex(key, 'PX', IDLE_MS));
    if (json === null) return null;
    const entry = stored.parse(JSON.parse(json));
    const now = this.now();
    if (now < entry.endsAt) return { ...entry, key, idleUntil: Math.min(now + IDLE_MS, entry.endsAt) };
    await this.end({ key, tokenHash: entry.tokenHash });
    return null;
  }

  async end({ key, tokenHash }: Pick<DeskSession, 'key' | 'tokenHash'>): Promise<void> {
    await this.ask((redis) => redis.del(key));
    await this.ask((redis) => redis.srem(`${OF_TOKEN}${tokenHash}`, key));
  }

  /** Of too many of one token those end that were idle longest: they would expire first. */
  private async makeRoom(newest: string, tokenHash: string): Promise<void> {
    const own = `${OF_TOKEN}${tokenHash}`;
    await this.ask((redis) => redis.sadd(own, newest));
    await this.ask((redis) => redis.pexpire(own, ABSOLUTE_MS));
    const keys = await this.ask((redis) => redis.smembers(own));
    if (keys.length <= OF_TOKEN_MAX) return;
    const left = await Promise.all(
      keys.map(async (key) => ({ key, ms: await this.ask((redis) => redis.pttl(key)) })),
    );
    left.sort((one, other) => other.ms - one.ms);
    for (const { key } of left.slice(OF_TOKEN_MAX)) await this.end({ key, tokenHash });
  }

  private ask<T>(question: (redis: ScriptClient['redis']) => Promise<T>): Promise<T> {
    return this.scripts.retryWhileAway('desk session', () => question(this.scripts.redis));
  }
}
