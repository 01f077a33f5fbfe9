import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { notes, type ScriptClient } from '../../../ledger/index.js';
import { hashOf, type Identity, identity } from '../../../operations/people/tokens.js';

/**
 * Sessions live in the store under the hash of their cookie, so that neither a restart of the desk nor a
 * second desk asks people to sign in again, and a reader of the store cannot become anybody. Idle sessions
 * end by expiry; the absolute end is checked besides.
 */
const stored = identity.extend({ csrf: z.string(), endsAt: z.number() });
export type DeskSession = z.infer<typeof stored> & { readonly key: string; readonly idleUntil: number };

/** One token may have so many: a person uses several browsers, or a few people share it. */
const OF_TOKEN_MAX = 20;
const IDLE_MS = 2 * 60 * 60 * 1000;
/** A day's shift with the tab open, and some. */
export const ABSOLUTE_MS = 36 * 60 * 60 * 1000;

export class Sessions {
  private readonly notes: notes.ExpiringNotes;

  constructor(scripts: ScriptClient) {
    this.notes = new notes.ExpiringNotes(scripts, IDLE_MS, ABSOLUTE_MS);
  }

  async begin(who: Identity): Promise<{ cookie: string; session: DeskSession }> {
    const cookie = randomBytes(32).toString('base64url');
    const key = hashOf(cookie);
    const now = Date.now();
    const entry = { ...who, csrf: randomBytes(32).toString('base64url'), endsAt: now + ABSOLUTE_MS };
    await this.notes.put(key, who.tokenHash, JSON.stringify(entry), OF_TOKEN_MAX);
    return { cookie, session: { ...entry, key, idleUntil: now + IDLE_MS } };
  }

  /** The session under the hash of its cookie, kept alive by being asked for. */
  async touch(key: string): Promise<DeskSession | null> {
    const json = await this.notes.touch(key);
    if (json === null) return null;
    const entry = stored.parse(JSON.parse(json));
    const now = Date.now();
    if (now < entry.endsAt) return { ...entry, key, idleUntil: Math.min(now + IDLE_MS, entry.endsAt) };
    await this.end({ key, tokenHash: entry.tokenHash });
    return null;
  }

  end({ key, tokenHash }: Pick<DeskSession, 'key' | 'tokenHash'>): Promise<void> {
    return this.notes.end(key, tokenHash);
  }
}

/** One cookie, readable by no script, sent to no other site. */
export type CookieRules = {
  /** `__Host-` where the connection is encrypted: no other name under the domain can set it. */
  readonly name: string;
  readonly secure: boolean;
};

/** Cookies know no ports: two desks on one machine would sign each other's people out under one name. */
export function cookieRules(secure: boolean, port: number): CookieRules {
  return secure ? { name: '__Host-almoner-desk', secure } : { name: `almoner-desk-${port}`, secure };
}

export function setCookie(rules: CookieRules, value: string, maxAgeMs: number): string {
  const age = Math.floor(maxAgeMs / 1000);
  const secure = rules.secure ? '; Secure' : '';
  return `${rules.name}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}

export function readCookie(header: string | undefined, rules: CookieRules): string | null {
  for (const part of (header ?? '').split(';')) {
    const cut = part.indexOf('=');
    if (part.slice(0, cut).trim() === rules.name) {
      const value = part.slice(cut + 1).trim();
      // Ours are 43 characters; anything else is not worth a look into the store.
      return /^[\w-]{43}$/.test(value) ? value : null;
    }
  }
  return null;
}
