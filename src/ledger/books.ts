import { z } from 'zod';
import type { RealmIdentity } from '../core/profile.js';
import type { Argument, Caller } from './caller.js';
import { Gathered } from './gathered.js';
import { REALMS_KEY, realmHash, realmKey } from './keys.js';

/** The books of one realm: its key in the store and the way to call its scripts. */
export type Books = {
  readonly caller: Caller;
  readonly realm: string;
  readonly owner: RealmOwner;
  readonly mark: FenceMark;
  /** What every order passes, many in a call; see the scripts for what is asked. */
  readonly claims: Gathered<OrderAsk, string[]>;
  readonly begins: Gathered<OrderAsk, string[]>;
  readonly settles: Gathered<OrderAsk, string[]>;
};

export type OrderAsk = readonly unknown[];

/** A call with so many orders takes Redis a few milliseconds. */
const ORDERS_IN_A_CALL = 64;

/** What this process knows of the ledger's past; the claim and send scripts compare it with what they find. */
export type FenceMark = {
  /** The highest sequence seen: a lower one later is a store that forgot. */
  seen: number;
  /** The arming this process has merged its journal for; empty before the first. */
  era: string;
  /** The session that asks; empty where nothing is ever sent. One that was given up begins nothing. */
  session: string;
};

/** What was seen once must never be forgotten by the store; the next claim asks. */
export function noteSeq(books: Books, seq: string | undefined): void {
  books.mark.seen = Math.max(books.mark.seen, Number(seq ?? 0));
}

/** What is known of a realm besides its books, so that every command can name it without a profile. */
const realmOwner = z.object({
  name: z.string(),
  baseUrl: z.string(),
  realmId: z.string(),
  rehearsal: z.boolean(),
});
export type RealmOwner = z.infer<typeof realmOwner>;

export function openBooks(caller: Caller, owner: RealmOwner): Books {
  const realm = realmKey(owner);
  const mark: FenceMark = { seen: 0, era: '', session: '' };
  const gathered = (script: 'claim' | 'begin-sending' | 'settle', head: () => Argument[]) =>
    new Gathered((asks: readonly OrderAsk[]) => caller.orders(script, realm, head(), asks), ORDERS_IN_A_CALL);
  return {
    caller,
    realm,
    owner,
    mark,
    claims: gathered('claim', () => [mark.seen, mark.era, mark.session]),
    begins: gathered('begin-sending', () => [mark.seen, mark.era, mark.session]),
    settles: gathered('settle', () => []),
  };
}

/** The folder of a realm's archives: its hash, because names change and may hold anything. */
export function realmFolder({ owner }: Books): string {
  return realmHash(owner);
}

/** Notes the realm in the store; done before its first batch is opened. */
export async function registerRealm(books: Books): Promise<void> {
  await books.caller.patiently('register realm', () =>
    books.caller.redis.hset(REALMS_KEY, realmHash(books.owner), JSON.stringify(books.owner)),
  );
}

export async function forgetRealm(caller: Caller, identity: RealmIdentity): Promise<void> {
  await caller.patiently('forget realm', () => caller.redis.hdel(REALMS_KEY, realmHash(identity)));
}

/** All realms that ever had a batch in this store. */
export async function allBooks(caller: Caller): Promise<Books[]> {
  const entries = await caller.patiently('list realms', () => caller.redis.hgetall(REALMS_KEY));
  return Object.values(entries).map((json) => openBooks(caller, realmOwner.parse(JSON.parse(json))));
}
