import { AlmonerError } from '../../core/errors/error.js';
import type { Person, Requirement } from '../../core/people.js';
import { type BatchRef, newNonce, planning, reading, steering } from '../../ledger/index.js';
import {
  type Letter,
  PaidSince,
  passAddresses,
  refuseAddresses,
  whyMoved,
} from '../../planning/paid-before/looks-paid.js';
import type { App } from '../../runtime/app.js';
import { counted } from '../../words/spelling.js';
import { profileOfBatch } from '../batches/batch-realm.js';
import { contextOf, idOf, type OrderPlace } from '../orders/find-orders.js';
import { namesOf, record, recordOrders } from '../people/audit.js';
import { isRequired, requirementOf, whoActs } from '../people/who.js';
import { openForJudging } from '../services/recovery.js';
import type { OrderRow } from '../views/order.js';
import { retriesOf } from './retries.js';

/** Retrying and discarding dead letters, one or thousands. The ledger decides about each one by itself. */
type MendedBy = { readonly who: string; readonly why: string | null };

export type Mended = {
  readonly taken: readonly OrderPlace[];
  readonly refused: readonly RefusedOrder[];
};

export type RefusedOrder = { readonly order: string } & steering.Refusal;

const AT_ONCE = 32;

export type RetriedBy = MendedBy & {
  /** The realm's address is meant, also where it was paid under another one. */
  readonly newAddress: boolean;
};

/**
 * Puts dead letters back to work; a batch that was done goes on, for the workers. One batch after the other: what was
 * retried of the first is an order that the second is compared with.
 */
export async function retryDead(
  app: App,
  places: readonly OrderPlace[],
  by: RetriedBy,
  onProgress: (done: number) => void,
): Promise<Mended> {
  const seen = new Map<string, readonly planning.EarlierAddress[]>();
  const stores = new Map<string, string>();
  const limits = new Map<string, Requirement>();
  for (const ref of batchesOf(places)) {
    const { ledger } = ref;
    if (seen.has(ledger.id)) continue;
    const profile = profileOfBatch(app.config, ref);
    if (profile !== undefined) {
      await openForJudging(app, profile);
      limits.set(ledger.id, requirementOf(profile));
    }
    stores.set(ledger.id, (await planning.earlier.judgedAt(ledger)).store);
    seen.set(ledger.id, by.newAddress ? await planning.addresses.earlier(ledger) : []);
    // Before any of them is back to work: what stops one batch here stops the command.
    await passAddresses(ledger, seen.get(ledger.id) ?? [], { who: by.who, at: Date.now() });
  }
  const mended: Mended[] = [];
  let done = 0;
  const person = await whoActs(app);
  try {
    for (const batch of batchesOf(places)) {
      const mine = places.filter(({ ref }) => batchName(ref) === batchName(batch));
      mended.push(
        await retryOfBatch(app, batch, mine, {
          ...by,
          seen: seen.get(batch.ledger.id) ?? [],
          store: stores.get(batch.ledger.id) ?? '',
          limits: limits.get(batch.ledger.id) ?? NO_LIMITS,
          person,
          onProgress: (some) => onProgress(done + some),
        }),
      );
      done += mine.length;
    }
  } finally {
    const why = whyOf(by, [...new Set([...seen.values()].flatMap(whyMoved))]);
    await recordOrders(app.scripts, { who: by.who, why }, takenOf(mended), (which) => `retried ${which}`);
  }
  await followOnBoard(app, takenOf(mended));
  return { taken: takenOf(mended), refused: mended.flatMap((one) => one.refused) };
}

function takenOf(mended: readonly Mended[]): OrderPlace[] {
  return mended.flatMap(({ taken }) => taken);
}

async function retryOfBatch(
  app: App,
  ref: BatchRef,
  places: readonly OrderPlace[],
  by: MendedBy & {
    readonly seen: readonly planning.EarlierAddress[];
    readonly store: string;
    readonly limits: Requirement;
    readonly person: Person | null;
    readonly onProgress: (done: number) => void;
  },
): Promise<Mended> {
  const { who, why, store } = by;
  const letters = await lettersOf(ref, places);
  const since = new PaidSince(ref, [...letters.values()], by.seen);
  const limits = by.limits;
  const person = by.person?.name ?? null;
  if (isRequired(limits)) await askForRetry(app, ref, [...letters.keys()], by);
  const mended = await eachOf(places, by.onProgress, async ({ index }) => {
    const letter = letters.get(index);
    if (letter === undefined) return { why: 'it never became an order; mend the row and run it again' };
    return since.retry(letter, { who, why, at: Date.now(), nonce: newNonce(), store, limits, person });
  });
  await note(mended, by, 'retried', whyMoved(by.seen));
  return mended;
}

/** Where the person may not retry these alone, an approval is asked for; each order then says that it needs one. */
async function askForRetry(
  app: App,
  ref: BatchRef,
  indexes: readonly number[],
  {
    person,
    why,
    limits,
  }: { readonly person: Person | null; readonly why: string | null; readonly limits: Requirement },
): Promise<void> {
  const ask = async (some: readonly number[]) => {
    const { letters, tokens, hash } = await retriesOf(ref, some);
    if (letters.length === 0) return null;
    const wanted = { who: person?.name ?? '', hash, why, limits, tokens };
    const asked = await steering.approvals.requestRetry(ref, {
      ...wanted,
      indexes: letters.map(({ index }) => index),
    });
    const what = 'asked for the approval of a retry of dead letters';
    if (asked.answer === 'asked')
      await record(app, { what, why, batches: [ref.id], orders: letters.length, tokens });
    return asked;
  };
  if (indexes.length > ASKED_MAX)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `An approval is for at most ${counted(ASKED_MAX, 'dead letter')} at once, and these are ${counted(indexes.length, 'dead letter')} of batch ${ref.id}. Nothing of this batch was retried.`,
      { next: 'Name some of them, or retry one class of errors at a time.' },
    );
  const first = await ask(indexes);
  const asked = first?.answer === 'lacking' ? await ask(first.lacking) : first;
  if (asked?.answer === 'other')
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `${asked.first} has asked for a retry of other dead letters of batch ${ref.id}. Nothing of this batch was retried.`,
      { next: `Another person approves or refuses that one first: \`almoner approve ${ref.id}\`.` },
    );
  if (asked?.answer === 'nameless')
    throw new AlmonerError(
      'ALM_PEOPLE_NAMELESS',
      `A retry of ${counted(indexes.length, 'dead letter')} of batch ${ref.id} needs an approval, and the person who asks for it has to be known by a token. Nothing of this batch was retried.`,
    );
}

/** An approver looks at them, and the store is asked about all of them at once. */
const ASKED_MAX = 10_000;

const NO_LIMITS: Requirement = { overTokens: null, overRows: null };

/** Asked by the desk before it begins, without a write; the gate itself is passed in retryDead. */
export async function refuseMoved(places: readonly OrderPlace[]): Promise<void> {
  for (const { ledger } of batchesOf(places))
    refuseAddresses(ledger, await planning.addresses.earlier(ledger));
}

/** Those that were orders. */
async function lettersOf(ref: BatchRef, places: readonly OrderPlace[]): Promise<Map<number, Letter>> {
  const { plans } = await contextOf(ref);
  const letters = new Map<number, Letter>();
  for (const { index } of places) {
    const row = await plans.row(ref.no, index);
    if (reading.orders.isPlanned(row)) letters.set(index, { index, row });
  }
  return letters;
}

function batchName({ ledger, no }: BatchRef): string {
  return `${ledger.id} ${no}`;
}

export async function discardDead(
  app: App,
  places: readonly OrderPlace[],
  by: { readonly who: string; readonly why: string },
  onProgress: (done: number) => void,
): Promise<Mended> {
  const mended = await eachOf(places, onProgress, ({ ref, index }) =>
    steering.deadLetters.discard(ref, index, { ...by, at: Date.now() }),
  );
  await note(mended, by, 'discarded');
  await recordOrders(app.scripts, by, mended.taken, (which) => `discarded ${which}`);
  await followOnBoard(app, mended.taken);
  return mended;
}

async function eachOf(
  places: readonly OrderPlace[],
  onProgress: (done: number) => void,
  act: (place: OrderPlace) => Promise<'ok' | steering.Refusal>,
): Promise<Mended> {
  const taken: OrderPlace[] = [];
  const refused: RefusedOrder[] = [];
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
  more: readonly string[] = [],
): Promise<void> {
  for (const batch of batchesOf(taken)) {
    const mine = taken.filter(({ ref }) => batchName(ref) === batchName(batch));
    const what = `${verb} ${namesOf(mine)}`;
    await steering.batch.audit(batch, { at: Date.now(), who, what, why: whyOf({ why }, more) });
  }
}

function whyOf({ why }: Pick<MendedBy, 'why'>, more: readonly string[]): string | null {
  const whys = [...(why === null ? [] : [why]), ...more].join('; ');
  return whys === '' ? null : whys;
}

export function batchesOf(places: readonly OrderPlace[]): BatchRef[] {
  const batches = new Map<string, BatchRef>();
  for (const { ref } of places) batches.set(batchName(ref), ref);
  return [...batches.values()];
}

/**
 * The queue board's picture of the dead letters follows what a person did to them. The ledger was changed
 * first and is the truth; should this be cut off, the board shows an entry too many.
 */
export type BoardChange = OrderPlace & {
  /** What it is now; left out where it is no dead letter any more. */
  readonly now?: OrderRow;
};

const BOARD_AT_ONCE = 64;

export async function followOnBoard(app: App, changes: readonly BoardChange[]): Promise<void> {
  const byRealm = new Map<string, BoardChange[]>();
  for (const change of changes) {
    const { id } = change.ref.ledger;
    byRealm.set(id, [...(byRealm.get(id) ?? []), change]);
  }
  for (const group of byRealm.values()) await follow(app, group);
}

async function follow(app: App, changes: readonly BoardChange[]): Promise<void> {
  const [first] = changes;
  if (first === undefined) return;
  const { DeadLetters } = await import('../../queue/queues.js');
  const connection = app.store.connect('dead');
  const board = new DeadLetters(first.ref.ledger, connection);
  for (let from = 0; from < changes.length; from += BOARD_AT_ONCE)
    await Promise.all(
      changes.slice(from, from + BOARD_AT_ONCE).map(async ({ ref, index, now }) => {
        await board.remove({ no: ref.no, index });
        if (now !== undefined) board.post({ no: ref.no, index }, { ...now, message: now.message ?? '' });
      }),
    );
  await board.close();
  connection.disconnect();
}
