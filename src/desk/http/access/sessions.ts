import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ExpiringNotes, type ScriptClient } from '../../../ledger/index.js';
import { hashOf, type Identity, ROLES } from './tokens.js';

/**
 * Sessions live in the store under the hash of their cookie, so that neither a restart of the desk nor a
 * second desk asks people to sign in again, and a reader of the store cannot become anybody. Idle sessions
 * end by expiry; the absolute end is checked besides.
 */
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
  private readonly notes: ExpiringNotes;

  constructor(
    scripts: ScriptClient,
    private readonly now: () => number,
  ) {
    this.notes = new ExpiringNotes(scripts, IDLE_MS, ABSOLUTE_MS);
  }

  async begin(identity: Identity): Promise<{ cookie: string; session: DeskSession }> {
    const cookie = randomBytes(32).toString('base64url');
    const key = hashOf(cookie);
    const now = this.now();
    const entry = { ...identity, csrf: randomBytes(32).toString('base64url'), endsAt: now + ABSOLUTE_MS };
    await this.notes.put(key, identity.tokenHash, JSON.stringify(entry), OF_TOKEN_MAX);
    return { cookie, session: { ...entry, key, idleUntil: now + IDLE_MS } };
  }

  /** The session of a cookie, kept alive by being asked for. */
  find(cookie: string): Promise<DeskSession | null> {
    return this.touch(hashOf(cookie));
  }

  async touch(key: string): Promise<DeskSession | null> {
    const json = await this.notes.touch(key);
    if (json === null) return null;
    const entry = stored.parse(JSON.parse(json));
    const now = this.now();
    if (now < entry.endsAt) return { ...entry, key, idleUntil: Math.min(now + IDLE_MS, entry.endsAt) };
    await this.end({ key, tokenHash: entry.tokenHash });
    return null;
  }

  end({ key, tokenHash }: Pick<DeskSession, 'key' | 'tokenHash'>): Promise<void> {
    return this.notes.end(key, tokenHash);
  }
}
