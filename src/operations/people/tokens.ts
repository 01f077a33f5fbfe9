import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { LOCAL_NAME, ROLES, type Role } from '../../core/people.js';
import { notes, type ScriptClient } from '../../ledger/index.js';

/**
 * Who may use the desk. A token is 256 random bits and is shown once; the store keeps its SHA-256, which is
 * enough to recognise it and useless to whoever reads the store. No slow hash: there is nothing to guess.
 */
const PREFIX = 'almdesk_';

/** Who may do something: whoever has one of the roles; `viewer` is everybody with a token. */
const ALLOWED = {
  anyone: ROLES,
  viewer: ROLES,
  operator: ['operator'],
  approver: ['approver'],
  admin: ['admin'],
  'operator or approver': ['operator', 'approver'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;
export type Access = keyof typeof ALLOWED;
export function isAccess(name: unknown): name is Access {
  return typeof name === 'string' && Object.hasOwn(ALLOWED, name);
}
export function isAllowed({ roles }: Pick<Identity, 'roles'>, access: Access): boolean {
  return ALLOWED[access].some((role) => roles.includes(role));
}

/** Whose deeds are kept whole, and who gives way to whom: whoever may change something comes last. */
export const RANKS = ['anyone', 'viewer', 'operator'] as const;
export type Rank = (typeof RANKS)[number];
export function rankOf({ roles }: Pick<Identity, 'roles'>): Rank {
  return roles.every((role) => role === 'viewer') ? 'viewer' : 'operator';
}

const roles = z.array(z.enum(ROLES)).min(1).readonly();
const storedToken = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  roles,
  createdAt: z.number(),
  createdBy: z.string(),
});

export type TokenEntry = Omit<z.infer<typeof storedToken>, 'hash'> & { readonly name: string };

/** Somebody the desk knows, and the token it knows them by: when that goes, so do their sessions. */
export const identity = z.object({ name: z.string(), roles, tokenHash: z.string() });
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

function exists(name: string): AlmonerError {
  return new AlmonerError(
    'ALM_DESK_TOKEN_EXISTS',
    `There is a desk token named ${name} already. Nothing was changed.`,
  );
}

export class Tokens {
  private readonly notes: notes.NoteStore<z.infer<typeof storedToken>>;

  constructor(scripts: ScriptClient) {
    this.notes = notes.stores.desk(scripts, 'tokens', storedToken);
  }

  async add(name: string, roles: readonly Role[], by: string, now: number): Promise<string> {
    checkTokenName(name);
    const token = newToken();
    const known = (await this.list()).find((one) => one.name.toLowerCase() === name.toLowerCase());
    const entry = { hash: hashOf(token), roles, createdAt: now, createdBy: by };
    // Two spellings of a name are one person.
    if (known !== undefined || !(await this.notes.add(name, entry))) throw exists(known?.name ?? name);
    // Of two spellings that were added at once the first in order stays.
    const rival = (await this.list()).find(
      (one) => one.name !== name && one.name.toLowerCase() === name.toLowerCase(),
    );
    if (rival !== undefined && rival.name < name) {
      await this.revoke(name);
      throw exists(rival.name);
    }
    return token;
  }

  async list(): Promise<TokenEntry[]> {
    return [...(await this.notes.all())]
      .map(([name, { hash: _, ...entry }]) => ({ name, ...entry }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** By name, what tells a token from another one of the same name. */
  async hashes(): Promise<ReadonlyMap<string, string>> {
    return new Map([...(await this.notes.all())].map(([name, { hash }]) => [name, hash]));
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
      if (isSame(entry.hash, hash)) return { name, roles: entry.roles, tokenHash: hash };
    return null;
  }

  /** Whether a token that was seen before still counts: asked at every request of a session. */
  async stillHolds({ name, roles, tokenHash }: Identity): Promise<boolean> {
    const entry = await this.notes.get(name);
    return entry !== null && isSame(entry.hash, tokenHash) && entry.roles.join() === roles.join();
  }
}
