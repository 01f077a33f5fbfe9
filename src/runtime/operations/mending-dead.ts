import { refuseAddresses, whyMoved } from '../../intake/other-address.js';
import { type Compared, comparePaid, type Letter, retryCompared } from '../../intake/paid-since.js';
import { type EarlierAddress, earlierAddresses } from '../../ledger/addresses.js';
import type { BatchRef } from '../../ledger/batches.js';
import type { Books } from '../../ledger/books.js';
import { discardOrder, type Refusal, writeAudit } from '../../ledger/dead.js';
import { isPlannedOrder } from '../../ledger/plan-block.js';
import type { App } from '../app.js';
import { profileOfBatch } from './batch-realm.js';
import { idOf, type OrderPlace, sharedContexts } from './choosing.js';
import { followOnBoard } from './dead-board.js';
import { mergeIfRestored } from './recovery.js';

/** Retrying and discarding dead letters, one or thousands. The ledger decides about each one by itself. */
export type MendedBy = { readonly who: string; readonly why: string | null };

export type Mended = {
  readonly taken: readonly OrderPlace[];
  readonly refused: readonly { readonly order: string; readonly why: string }[];
};

const AT_ONCE = 32;

export type RetriedBy = MendedBy & {
  /** The realm's address is meant, also where it was paid under another one. */
  readonly newAddress: boolean;
};

/** Puts dead letters back to work; a batch that was done goes on, for the workers. */
export async function retryDead(
  app: App,
  places: readonly OrderPlace[],
  by: RetriedBy,
  onProgress: (done: number) => void,
): Promise<Mended> {
  for (const ref of batchesOf(places)) {
    const profile = profileOfBatch(app.config, ref);
    if (profile !== undefined) await mergeIfRestored(app, profile);
  }
  const letters = await lettersOf(places);
  const seen = new Map<string, readonly EarlierAddress[]>();
  if (by.newAddress)
    for (const { books } of batchesOf(places)) seen.set(books.realm, await earlierAddresses(books));
  const compared = new Map<string, Compared>();
  for (const [batch, { ref, letters: mine }] of letters) {
    const here = { who: by.who, at: Date.now() };
    compared.set(batch, await comparePaid(ref, [...mine.values()], here, seen.get(ref.books.realm)));
  }
  const mended = await eachOf(places, onProgress, async ({ ref, index }) => {
    const letter = letters.get(batchName(ref))?.letters.get(index);
    if (letter === undefined) return { why: 'it never became an order; mend the row and run it again' };
    const { who, why } = by;
    const again = { who, why, at: Date.now(), nonce: app.newNonce() };
    return retryCompared(ref, letter, again, compared.get(batchName(ref)));
  });
  await note(mended, by, 'retried', ({ realm }) => whyMoved(seen.get(realm) ?? []));
  await followOnBoard(
    app,
    mended.taken.map((place) => ({ ...place, now: null })),
  );
  return mended;
}

/** Asked by the desk before it begins, without a write; the gate itself is passed in retryDead. */
export async function refuseMoved(places: readonly OrderPlace[]): Promise<void> {
  for (const { books } of batchesOf(places)) refuseAddresses(books, await earlierAddresses(books));
}

/** By batch: those that were orders. */
async function lettersOf(
  places: readonly OrderPlace[],
): Promise<Map<string, { ref: BatchRef; letters: Map<number, Letter> }>> {
  const contextOf = sharedContexts();
  const found = new Map<string, { ref: BatchRef; letters: Map<number, Letter> }>();
  for (const { ref, index } of places) {
    const mine = found.get(batchName(ref)) ?? { ref, letters: new Map<number, Letter>() };
    found.set(batchName(ref), mine);
    const row = await (await contextOf(ref)).plans.row(ref.no, index);
    if (isPlannedOrder(row)) mine.letters.set(index, { index, row });
  }
  return found;
}

function batchName({ books, no }: BatchRef): string {
  return `${books.realm} ${no}`;
}

export async function discardDead(
  app: App,
  places: readonly OrderPlace[],
  by: { readonly who: string; readonly why: string },
  onProgress: (done: number) => void,
): Promise<Mended> {
  const mended = await eachOf(places, onProgress, ({ ref, index }) =>
    discardOrder(ref, index, { ...by, at: Date.now() }),
  );
  await note(mended, by, 'discarded');
  await followOnBoard(
    app,
    mended.taken.map((place) => ({ ...place, now: null })),
  );
  return mended;
}

async function eachOf(
  places: readonly OrderPlace[],
  onProgress: (done: number) => void,
  act: (place: OrderPlace) => Promise<'ok' | Refusal>,
): Promise<Mended> {
  const taken: OrderPlace[] = [];
  const refused: { order: string; why: string }[] = [];
  for (let first = 0; first < places.length; first += AT_ONCE) {
    const some = places.slice(first, first + AT_ONCE);
    const answers = await Promise.all(some.map(act));
    for (const [i, place] of some.entries()) {
      const answer = answers[i] ?? 'ok';
      if (answer === 'ok') taken.push(place);
      else refused.push({ order: idOf(place), why: answer.why });
    }
    onProgress(Math.min(first + AT_ONCE, places.length));
  }
  return { taken, refused };
}

/** One line in each batch's audit; who and why stand with every order as well. */
async function note(
  { taken }: Mended,
  { who, why }: MendedBy,
  verb: string,
  moreOf: (books: Books) => readonly string[] = () => [],
): Promise<void> {
  for (const batch of batchesOf(taken)) {
    const mine = taken.filter(({ ref }) => batchName(ref) === batchName(batch));
    const which = mine.length <= 5 ? mine.map(idOf).join(', ') : `${mine.length} dead letters`;
    const whys = [...(why === null ? [] : [why]), ...moreOf(batch.books)].join('; ');
    await writeAudit(batch, {
      at: Date.now(),
      who,
      what: `${verb} ${which}`,
      why: whys === '' ? null : whys,
    });
  }
}

export function batchesOf(places: readonly OrderPlace[]): BatchRef[] {
  const batches = new Map<string, BatchRef>();
  for (const { ref } of places) batches.set(batchName(ref), ref);
  return [...batches.values()];
}
