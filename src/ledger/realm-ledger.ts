import { z } from 'zod';
import type { RealmIdentity } from '../core/profile.js';
import { CallBatcher } from './call-batcher.js';
import { REALMS_KEY, realmHash, realmKey } from './keys.js';
import type { Argument, ScriptClient } from './script-client.js';

/** The books of one realm: its key in the store and the way to call its scripts. */
export type RealmLedger = {
  readonly scripts: ScriptClient;
  readonly keyPrefix: string;
  readonly realm: KnownRealm;
  readonly mark: FenceMark;
  /** What every order passes, many in a call; see the scripts for what is asked. */
  readonly claims: CallBatcher<OrderAsk, string[]>;
  readonly begins: CallBatcher<OrderAsk, string[]>;
  readonly settles: CallBatcher<OrderAsk, string[]>;
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
export function noteSeq(ledger: RealmLedger, seq: string | undefined): void {
  ledger.mark.seen = Math.max(ledger.mark.seen, Number(seq ?? 0));
}

/** What is known of a realm besides its books, so that every command can name it without a profile. */
const knownRealm = z.object({
  name: z.string(),
  baseUrl: z.string(),
  realmId: z.string(),
  rehearsal: z.boolean(),
});
export type KnownRealm = z.infer<typeof knownRealm>;

export function openLedger(scripts: ScriptClient, realm: KnownRealm): RealmLedger {
  const keyPrefix = realmKey(realm);
  const mark: FenceMark = { seen: 0, era: '', session: '' };
  const gathered = (script: 'claim' | 'begin-sending' | 'settle', head: () => Argument[]) =>
    new CallBatcher(
      (asks: readonly OrderAsk[]) => scripts.orders(script, keyPrefix, head(), asks),
      ORDERS_IN_A_CALL,
    );
  return {
    scripts,
    keyPrefix,
    realm,
    mark,
    claims: gathered('claim', () => [mark.seen, mark.era, mark.session]),
    begins: gathered('begin-sending', () => [mark.seen, mark.era, mark.session]),
    settles: gathered('settle', () => []),
  };
}

/** The folder of a realm's archives: its hash, because names change and may hold anything. */
export function realmFolder({ realm }: RealmLedger): string {
  return realmHash(realm);
}

/** Notes the realm in the store; done before its first batch is opened. */
export async function registerRealm(ledger: RealmLedger): Promise<void> {
  await ledger.scripts.retryWhileAway('register realm', () =>
    ledger.scripts.redis.hset(REALMS_KEY, realmHash(ledger.realm), JSON.stringify(ledger.realm)),
  );
}

export async function forgetRealm(scripts: ScriptClient, identity: RealmIdentity): Promise<void> {
  await scripts.retryWhileAway('forget realm', () => scripts.redis.hdel(REALMS_KEY, realmHash(identity)));
}

/** All realms that ever had a batch in this store. */
export async function allLedgers(scripts: ScriptClient): Promise<RealmLedger[]> {
  const entries = await scripts.retryWhileAway('list realms', () => scripts.redis.hgetall(REALMS_KEY));
  return Object.values(entries).map((json) => openLedger(scripts, knownRealm.parse(JSON.parse(json))));
}
