import { listBatches, readBatch } from './batches.js';
import { allBooks, type Books } from './books.js';
import { realmHash } from './keys.js';

/**
 * Books belong to an address and a realm id. The same id under another spelling of its address, or at a new
 * domain, opens new books, in which nothing of the earlier payments is known: files, references, limits and
 * periods would all be paid a second time. So whoever pays is stopped until a person has said that the address
 * is meant; that is kept with the new books, once for each earlier address. Going back to the earlier one is
 * asked for likewise, because its books know nothing of what was paid since.
 */
export type EarlierAddress = {
  readonly baseUrl: string;
  readonly paid: number;
  /** Orders that are on their way, wait, or of which nobody can say. */
  readonly open: number;
  readonly tokens: bigint;
  readonly lastAt: number | null;
};

/** Where this realm id was paid, or may still be, in other books of the store that nobody has accepted yet. */
export async function earlierAddresses(books: Books): Promise<EarlierAddress[]> {
  const found: EarlierAddress[] = [];
  for (const other of await otherBooks(books)) {
    const past = await pastOf(other);
    if (past.paid + past.open > 0) found.push(past);
  }
  return found.sort((a, b) => (b.lastAt ?? 0) - (a.lastAt ?? 0) || a.baseUrl.localeCompare(b.baseUrl));
}

/**
 * Raises the seal number of the other books. Who is about to seal reads its own number, announces itself, looks at the
 * others, and seals at that number or begins anew. So of two at once one is refused: an announcement after the
 * other's seal is followed by a look that finds it; one between the other's number and seal makes it begin anew; and
 * both cannot come before the other's number. Nothing is held that a crash could leave behind.
 */
export async function announceAddress(books: Books): Promise<void> {
  const { caller } = books;
  for (const { realm } of await otherBooks(books))
    await caller.patiently('announce address', () => caller.redis.hincrby(realm, 'seals', 1));
}

/** A person has said that this address is meant beside, or instead of, those. */
export async function acceptAddresses(
  books: Books,
  earlier: readonly EarlierAddress[],
  by: { readonly who: string; readonly at: number },
): Promise<void> {
  const { caller, owner } = books;
  for (const { baseUrl } of earlier)
    await caller.patiently('accept address', () =>
      caller.redis.hset(
        keyOf(books),
        realmHash({ baseUrl, realmId: owner.realmId }),
        JSON.stringify({ baseUrl, ...by }),
      ),
    );
}

async function otherBooks({ caller, realm, owner }: Books): Promise<Books[]> {
  // Rehearsals move no points, and the embedded service has no address of its own.
  if (owner.rehearsal) return [];
  const others = (await allBooks(caller)).filter(
    ({ realm: key, owner: other }) => other.realmId === owner.realmId && key !== realm && !other.rehearsal,
  );
  if (others.length === 0) return [];
  const accepted = await caller.patiently('read addresses', () => caller.redis.hkeys(keyOf({ realm })));
  return others.filter((other) => !accepted.includes(realmHash(other.owner)));
}

async function pastOf(books: Books): Promise<EarlierAddress> {
  const { caller, realm, owner } = books;
  // Attempts whose batch a store that was rolled back has forgotten.
  let open = await caller.patiently('read parked', () => caller.redis.hlen(`${realm}:parked`));
  let [paid, tokens, lastAt]: [number, bigint, number | null] = [0, 0n, null];
  for (const ref of await listBatches(books)) {
    const batch = await readBatch(ref);
    if (batch === undefined) continue;
    const { counts, sums } = batch;
    const mayBePaid =
      (counts.planned ?? 0) + (counts.sending ?? 0) + (counts.unknown ?? 0) + (counts.doubt ?? 0);
    paid += counts.paid ?? 0;
    tokens += sums.paid ?? 0n;
    open += mayBePaid;
    if ((counts.paid ?? 0) + mayBePaid > 0)
      lastAt = Math.max(lastAt ?? 0, batch.startedAt ?? batch.manifest.createdAt);
  }
  return { baseUrl: owner.baseUrl, paid, open, tokens, lastAt };
}

function keyOf({ realm }: Pick<Books, 'realm'>): string {
  return `${realm}:addresses`;
}
