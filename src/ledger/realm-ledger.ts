import { z } from 'zod';
import { CallBatcher } from './call-batcher.js';
import { ledgerId, REALMS_KEY, realmKey } from './keys.js';
import type { Argument, ScriptClient } from './script-client.js';

/** The books of one realm: its key in the store and the way to call its scripts. */
export type RealmLedger = {
  readonly scripts: ScriptClient;
  readonly keyPrefix: string;
  /** Tells the ledgers of a store apart; also the folder of the realm's archives, because names change. */
  readonly id: string;
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
    id: ledgerId(realm),
    realm,
    mark,
    claims: gathered('claim', () => [mark.seen, mark.era, mark.session]),
    begins: gathered('begin-sending', () => [mark.seen, mark.era, mark.session]),
    settles: gathered('settle', () => []),
  };
}

/** Notes the realm in the store; done before its first batch is opened. */
export async function registerRealm(ledger: RealmLedger): Promise<void> {
  await ledger.scripts.retryWhileAway('register realm', () =>
    ledger.scripts.redis.hset(REALMS_KEY, ledger.id, JSON.stringify(ledger.realm)),
  );
}

/** Everything of the realm leaves the store; its name last, so that what was interrupted is found again. */
export async function dropLedger({ scripts, keyPrefix, id }: RealmLedger): Promise<void> {
  const { redis } = scripts;
  const pattern = `${keyPrefix.replaceAll(/[\\*?[\]]/g, '\\$&')}*`;
  for (let cursor = ''; cursor !== '0'; ) {
    const [next, keys] = await redis.scan(cursor || '0', 'MATCH', pattern, 'COUNT', 1000);
    if (keys.length > 0) await redis.unlink(...keys);
    cursor = next;
  }
  await scripts.retryWhileAway('forget realm', () => redis.hdel(REALMS_KEY, id));
}

/** All realms that ever had a batch in this store. */
export async function allLedgers(scripts: ScriptClient): Promise<RealmLedger[]> {
  const entries = await scripts.retryWhileAway('list realms', () => scripts.redis.hgetall(REALMS_KEY));
  return Object.values(entries).map((json) => openLedger(scripts, knownRealm.parse(JSON.parse(json))));
}
