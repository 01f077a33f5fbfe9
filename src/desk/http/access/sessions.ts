import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { notes, type ScriptClient } from '../../../ledger/index.js';
import { hashOf, type Identity, identity } from '../../../operations/people/tokens.js';

/**
 * Sessions in the store, under the hash of their cookie. A restart or a second desk does not sign people out, and a
 * reader of the store cannot take over a session. The store expires idle sessions; the absolute end is checked in
 * addition.
 */
const stored = identity.extend({ csrf: z.string(), endsAt: z.number() });
export type DeskSession = z.infer<typeof stored> & { readonly key: string; readonly idleUntil: number };

/** The most sessions per token: one person has several browsers, and a few people may share a token. */
const OF_TOKEN_MAX = 20;
const IDLE_MS = 2 * 60 * 60 * 1000;
/** A day's shift with the tab open, with some reserve. */
export const ABSOLUTE_MS = 36 * 60 * 60 * 1000;

/** Makes, reads and ends sessions. */
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

  /** Reads a session by its cookie's hash and renews its idle time. */
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

/** The rules of the one cookie: unreadable for scripts and never sent to other sites. */
export type CookieRules = {
  /** `__Host-` on an encrypted connection: no other host under the domain can set that name. */
  readonly name: string;
  readonly secure: boolean;
};

/** Cookies ignore ports. With one name, two desks on a machine would sign each other's people out. */
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
      // Session cookies have 43 characters, so that any other text needs no look into the store.
      return /^[\w-]{43}$/.test(value) ? value : null;
    }
  }
  return null;
}
