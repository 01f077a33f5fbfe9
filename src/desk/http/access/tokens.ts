import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AlmonerError } from '../../../core/errors/error.js';
import { deskNotes, type NoteStore, type ScriptClient } from '../../../ledger/index.js';
import type { Role } from '../../api/index.js';

/**
 * Who may use the desk. A token is 256 random bits and is shown once; the store keeps its SHA-256, which is
 * enough to recognise it and useless to whoever reads the store. No slow hash: there is nothing to guess.
 */
const PREFIX = 'almdesk_';

export const ROLES = ['viewer', 'operator'] as const satisfies readonly Role[];
/** Who may do, or did, something; each may do what those before it may. */
export const ACCESSES = ['anyone', ...ROLES] as const;
export type Access = (typeof ACCESSES)[number];

const storedToken = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  role: z.enum(ROLES),
  createdAt: z.number(),
  createdBy: z.string(),
});

export type TokenEntry = Omit<z.infer<typeof storedToken>, 'hash'> & { readonly name: string };

/** Somebody the desk knows, and the token it knows them by: when that goes, so do their sessions. */
export const identity = z.object({ name: z.string(), role: z.enum(ROLES), tokenHash: z.string() });
export type Identity = z.infer<typeof identity>;

export function newToken(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The name is the "who" of the audit: one line without blanks that looks like no built-in name. */
function checkTokenName(name: string): void {
  if (/^[a-z0-9][a-z0-9._@-]{0,63}$/i.test(name) && name.toLowerCase() !== LOCAL_NAME) return;
  throw new AlmonerError(
    'ALM_DESK_TOKEN_NAME',
    `${JSON.stringify(name)} cannot be the name of a desk token. Nothing was changed.`,
  );
}

export const LOCAL_NAME = 'local';

export class Tokens {
  private readonly notes: NoteStore<z.infer<typeof storedToken>>;

  constructor(scripts: ScriptClient) {
    this.notes = deskNotes(scripts, 'tokens', storedToken);
  }

  async add(name: string, role: Role, by: string, now: number): Promise<string> {
    checkTokenName(name);
    const token = newToken();
    const entry = { hash: hashOf(token), role, createdAt: now, createdBy: by };
    if (!(await this.notes.add(name, entry)))
      throw new AlmonerError(
        'ALM_DESK_TOKEN_EXISTS',
        `There is a desk token named ${name} already. Nothing was changed.`,
      );
    return token;
  }

  async list(): Promise<TokenEntry[]> {
    return [...(await this.notes.all())]
      .map(([name, { role, createdAt, createdBy }]) => ({ name, role, createdAt, createdBy }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async revoke(name: string): Promise<void> {
    if (!(await this.notes.remove(name)))
      throw new AlmonerError(
        'ALM_DESK_TOKEN_UNKNOWN',
        `There is no desk token named ${JSON.stringify(name)}. Nothing was changed.`,
      );
  }

  async isEmpty(): Promise<boolean> {
    return (await this.notes.all()).size === 0;
  }

  async identify(token: string): Promise<Identity | null> {
    const hash = hashOf(token);
    for (const [name, entry] of await this.notes.all())
      if (isSame(entry.hash, hash)) return { name, role: entry.role, tokenHash: hash };
    return null;
  }

  /** Whether a token that was seen before still counts: asked at every request of a session. */
  async stillHolds({ name, role, tokenHash }: Identity): Promise<boolean> {
    const entry = await this.notes.get(name);
    return entry !== null && isSame(entry.hash, tokenHash) && entry.role === role;
  }
}
