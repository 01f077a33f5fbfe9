import { openCount } from '../../core/states.js';
import { ledgerId } from '../keys.js';
import { allLedgers, type RealmLedger } from '../realm-ledger.js';
import { batchesIn, paidEver } from './batch-lists.js';
import { readBatch } from './batches.js';

/**
 * A ledger belongs to an address and a realm id. The same id under another spelling of its address, or at a new
 * domain, opens a new ledger, in which nothing of the earlier payments is known: files, references, limits and
 * periods would all be paid a second time. So whoever pays is stopped until a person has said that the address
 * is meant; that is kept with the new ledger, once for each earlier address. Going back to the earlier one is
 * asked for likewise, because its ledger knows nothing of what was paid since.
 */
export type EarlierAddress = {
  readonly baseUrl: string;
  readonly paid: number;
  /** Orders that are on their way, wait, or of which nobody can say. */
  readonly open: number;
  readonly tokens: bigint;
  readonly lastAt: number | null;
};

/** Where this realm id was paid, or may still be, in other ledgers of the store that nobody has accepted yet. */
export async function earlierAddresses(ledger: RealmLedger): Promise<EarlierAddress[]> {
  const found: EarlierAddress[] = [];
  for (const other of await otherLedgers(ledger)) {
    const past = await pastOf(other);
    if (past.paid + past.open > 0) found.push(past);
  }
  return found.sort((a, b) => (b.lastAt ?? 0) - (a.lastAt ?? 0) || a.baseUrl.localeCompare(b.baseUrl));
}

/**
 * Raises the seal number of the other ledgers. Who is about to seal reads its own number, announces itself, looks at the
 * others, and seals at that number or begins anew. So of two at once one is refused: an announcement after the
 * other's seal is followed by a look that finds it; one between the other's number and seal makes it begin anew; and
 * both cannot come before the other's number. Nothing is held that a crash could leave behind.
 */
export async function announceAddress(ledger: RealmLedger): Promise<void> {
  const { scripts } = ledger;
  for (const { keyPrefix } of await otherLedgers(ledger))
    await scripts.ask('announce address', (redis) => redis.hincrby(keyPrefix, 'seals', 1));
}

/** A person has said that this address is meant beside, or instead of, those. */
export async function acceptAddresses(
  ledger: RealmLedger,
  earlier: readonly EarlierAddress[],
  by: { readonly who: string; readonly at: number },
): Promise<void> {
  const { scripts, realm } = ledger;
  for (const { baseUrl } of earlier)
    await scripts.ask('accept address', (redis) =>
      redis.hset(
        keyOf(ledger),
        ledgerId({ baseUrl, realmId: realm.realmId }),
        JSON.stringify({ baseUrl, ...by }),
      ),
    );
}

async function otherLedgers({ scripts, keyPrefix, realm }: RealmLedger): Promise<RealmLedger[]> {
  // Rehearsals move no points, and the embedded service has no address of its own.
  if (realm.rehearsal) return [];
  const others = (await allLedgers(scripts)).filter(
    ({ keyPrefix: key, realm: other }) =>
      other.realmId === realm.realmId && key !== keyPrefix && !other.rehearsal,
  );
  if (others.length === 0) return [];
  const accepted = await scripts.ask('read addresses', (redis) => redis.hkeys(keyOf({ keyPrefix })));
  return others.filter((other) => !accepted.includes(ledgerId(other.realm)));
}

async function pastOf(ledger: RealmLedger): Promise<EarlierAddress> {
  const { realm } = ledger;
  const { paid, tokens, lastAt: lastPaidAt } = await paidEver(ledger);
  let [open, lastAt] = [0, lastPaidAt];
  for (const ref of await everyOpen(ledger)) {
    const batch = await readBatch(ref);
    if (batch === undefined) continue;
    const mayBePaid = openCount(batch.counts) + (batch.counts.doubt ?? 0);
    open += mayBePaid;
    if (mayBePaid > 0) lastAt = Math.max(lastAt ?? 0, batch.startedAt ?? batch.manifest.createdAt);
  }
  return { baseUrl: realm.baseUrl, paid, open, tokens, lastAt };
}

async function everyOpen(ledger: RealmLedger) {
  const refs = [...(await batchesIn(ledger, 'open')), ...(await batchesIn(ledger, 'doubts'))];
  return new Map(refs.map((ref) => [ref.no, ref])).values();
}

function keyOf({ keyPrefix }: Pick<RealmLedger, 'keyPrefix'>): string {
  return `${keyPrefix}:addresses`;
}
