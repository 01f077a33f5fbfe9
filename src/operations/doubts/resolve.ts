import { AlmonerError } from '../../core/errors/error.js';
import type { OrderState } from '../../core/states.js';
import { planning, type RealmLedger, type RowView, reading, recovery, sending } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { SETTLE_MS } from '../../runtime/config/realm-settings.js';
import { counted, duration, isoTime } from '../../words/spelling.js';
import { profileOfBatch } from '../batches/batch-realm.js';
import { type BoardChange, followOnBoard, type RefusedOrder } from '../dead/retry-discard.js';
import { doubtName, idOf, type OrderPlace, sharedContexts } from '../orders/find-orders.js';
import { orderRow } from '../orders/order-row.js';
import { recordOrders } from '../people/audit.js';
import { type Asked, type Ruling, refused } from './rulings.js';

/**
 * An operator ends doubts. `paid` ends paid with evidence `operator`; `unpaid` ends exhausted, sends nothing,
 * and keeps the order's key, so that a later retry asks the same question again where the realm honours keys.
 * While its request may still arrive, nothing pays it again; whoever says unpaid before that is asked first.
 */
const isFirst = (doubt: string | null) => doubt === null || doubt.startsWith('d1-');

/** A store that has forgotten something counts an order's doubts anew: the first one may not be the first. */
async function forgetsNothing(ledger: RealmLedger): Promise<boolean> {
  const { rollback } = await recovery.fence.read(ledger);
  return rollback === null && (await planning.recovered.lossAcceptedAt(ledger)) === null;
}

export async function checkRulings(rulings: readonly Ruling[]): Promise<Ruling[]> {
  const numbers = new Map<Ruling, string | null>();
  const ledgers = new Map<string, Promise<boolean>>();
  const remembersAll = (ledger: RealmLedger) => {
    const known = ledgers.get(ledger.id) ?? forgetsNothing(ledger);
    ledgers.set(ledger.id, known);
    return known;
  };
  const open = await checkAll(rulings, async (ruling, { order, state, evidence, doubt }, earlier) => {
    const { verdict, doubt: named } = ruling;
    if (earlier !== undefined && earlier.verdict !== verdict) return 'is named twice, as paid and as unpaid';
    numbers.set(ruling, doubt);
    const now = state === 'doubt' ? `in doubt as ${doubt}` : state;
    if (named !== null && named !== doubt) return `is ${now}; the decision is about its doubt ${named}`;
    if (named === null && !(isFirst(doubt) && (await remembersAll(ruling.place.ref.ledger))))
      return `is ${now} and may have been in doubt before; name the doubt that you decide, as in ${doubtName(order, doubt)}`;
    if (state === 'doubt') return 'open';
    // The same file given again, perhaps after half of it was done: what is as asked is passed over.
    const ended = verdict === 'paid' ? 'paid' : 'exhausted';
    return state === ended && evidence === 'operator' ? 'as asked' : `is ${state}, not in doubt`;
  });
  // From here on each ruling names the doubt that was checked.
  return open.map((ruling) => ({ ...ruling, doubt: numbers.get(ruling) ?? null }));
}

/** What is being sent has an answer coming and is left alone. One that is in doubt already is as asked. */
export async function checkRaisable(places: readonly OrderPlace[]): Promise<OrderPlace[]> {
  const open = await checkAll(places.map(only), async ({ place: { ref, index } }, { state }) => {
    if (state === 'unknown') return 'open';
    if (state === 'doubt') return 'as asked';
    if (state !== 'sending') return `is ${state}, not unknown`;
    const { session } = await reading.orders.record(ref, index);
    return `is being sent by session ${session ?? 'unknown'}: see \`almoner status ${ref.id}\``;
  });
  return open.map(({ place }) => place);
}

const only = (place: OrderPlace): Asked => ({ place });

/** All are looked at before the first is touched; one that is wrong refuses them all. */
async function checkAll<T extends Asked>(
  asked: readonly T[],
  judge: (one: T, row: RowView, earlier: T | undefined) => Promise<'open' | 'as asked' | (string & {})>,
): Promise<T[]> {
  const faults: string[] = [];
  const open = new Map<string, T>();
  const contextOf = sharedContexts();
  for (const one of asked) {
    const { ref, index } = one.place;
    const id = idOf(one.place);
    const key = `${ref.ledger.id} ${id}`;
    const found = await judge(one, await reading.orders.row(await contextOf(ref), index), open.get(key));
    if (found === 'open') open.set(key, one);
    else if (found !== 'as asked') faults.push(`${id} ${found}`);
  }
  if (faults.length > 0) throw refused(faults);
  return [...open.values()];
}

/** A doubt to be called unpaid whose request may still be under way. */
export type Arriving = { readonly order: string; readonly until: string; readonly inMs: number };

/** Those sent less than the settle time ago, by the store's clock. The script that ends them reckons the same. */
export async function mayArrive(app: App, rulings: readonly Ruling[]): Promise<Arriving[]> {
  const arriving: Arriving[] = [];
  for (const { place, verdict } of rulings) {
    const { ref, index } = place;
    const record = await reading.orders.record(ref, index);
    if (verdict !== 'unpaid' || reading.orders.stateOf(record) !== 'doubt') continue;
    const { sentAt, tookMs } = record;
    const { nowMs, until } = await planning.earlier.arrivals(ref.ledger);
    const settleMs = await sending.readback.longestSettleMs(ref.ledger, settleMsOf(app, place));
    const end = until((sentAt === null ? nowMs : sentAt + (tookMs ?? 0)) + settleMs);
    if (end !== null) arriving.push({ order: idOf(place), until: isoTime(end), inMs: end - nowMs });
  }
  return arriving;
}

function settleMsOf(app: App, { ref }: OrderPlace): number {
  return profileOfBatch(app.config, ref)?.settleMs ?? SETTLE_MS;
}

/** What a person must know before these are called unpaid. */
export function arrivingError(arriving: readonly Arriving[]): AlmonerError {
  const many = counted(arriving.length, 'order was', 'orders were');
  return new AlmonerError(
    'ALM_BATCH_MAY_ARRIVE',
    `${many} sent so lately that the request may still arrive and be applied. Nothing was done.`,
    {
      details: arriving
        .slice(0, 50)
        .map(({ order, until, inMs }) => `${order} may arrive until ${until}, for another ${duration(inMs)}`),
    },
  );
}

type By = { readonly who: string; readonly why: string };

export async function resolveDoubts(
  app: App,
  rulings: readonly Ruling[],
  { who, why }: By,
  onProgress: (done: number) => void = () => {},
) {
  const { ended, missed } = await concludeAll(
    app,
    rulings,
    {
      was: 'in doubt',
      what: (which, ended) => `resolved ${which} as ${verdictWords(ended)}`,
      by: { who, why },
      onProgress,
    },
    async ({ place, verdict, doubt }, order) => {
      const record = await reading.orders.record(place.ref, place.index);
      if (reading.orders.stateOf(record) !== 'doubt') return null;
      const paid = verdict === 'paid';
      const at = Date.now();
      return {
        about: { batch: place.ref.id, doubt: doubt ?? '' },
        to: paid ? 'paid' : 'exhausted',
        evidence: 'operator',
        detail: {
          event: 'concluded',
          at,
          state: paid ? 'paid' : 'exhausted',
          by: who,
          code: paid ? null : 'ALM_SEND_SAID_UNPAID',
          message: `${who} resolved the doubt as ${verdict}: ${why}`,
        },
        dueInMs: 0,
        audit: JSON.stringify({ at, who, what: `doubt ${order} resolved as ${verdict}`, why }),
        balance: null,
        tries: record.tries,
        settleMs: settleMsOf(app, place),
      };
    },
  );
  return { resolved: ended, missed };
}

function verdictWords(ended: readonly Ended[]): string {
  const paid = ended.filter(({ state }) => state === 'paid').length;
  if (paid === ended.length) return 'paid';
  return paid === 0 ? 'unpaid' : `paid (${paid}) and unpaid (${ended.length - paid})`;
}

/**
 * An unknown that nothing resolves by itself becomes a doubt on an operator's word: it lets go of its members,
 * is not sent again, and waits for whoever decides it.
 */
export async function raiseDoubts(app: App, places: readonly OrderPlace[], { who, why }: By) {
  const { ended, missed } = await concludeAll(
    app,
    places.map(only),
    { was: 'unknown', what: (which) => `made a doubt of ${which}`, by: { who, why } },
    async ({ place }, order) => {
      const { nonce: attempt } = await reading.orders.record(place.ref, place.index);
      const at = Date.now();
      const message = `${who} made a doubt of it: ${why}`;
      return {
        about: { batch: place.ref.id, attempt, read: null },
        to: 'doubt',
        evidence: null,
        detail: { event: 'concluded', at, state: 'doubt', by: who, code: 'ALM_SEND_RAISED', message },
        dueInMs: 0,
        audit: JSON.stringify({ at, who, what: `doubt ${order} raised`, why }),
        balance: null,
        tries: null,
      };
    },
  );
  return { raised: ended.map(({ order }) => order), missed };
}

type Ended = { readonly order: string; readonly state: OrderState };

type Concluding = {
  /** What each order has to be still. */
  readonly was: 'in doubt' | 'unknown';
  /** For the audit. */
  readonly what: (which: string, ended: readonly Ended[]) => string;
  readonly by: By;
  readonly onProgress?: (done: number) => void;
};

async function concludeAll<T extends Asked>(
  app: App,
  asked: readonly T[],
  { was, what, by, onProgress = () => {} }: Concluding,
  howOf: (one: T, order: string) => Promise<sending.Conclusion | null>,
) {
  const ended: Ended[] = [];
  const done: OrderPlace[] = [];
  /** Those that somebody else moved between the check and now. */
  const missed: RefusedOrder[] = [];
  const board: BoardChange[] = [];
  const contextOf = sharedContexts();
  try {
    for (const one of asked) {
      const { ref, index } = one.place;
      const order = idOf(one.place);
      const context = await contextOf(ref);
      const [planned, how] = await Promise.all([context.plans.row(ref.no, index), howOf(one, order)]);
      const isDone =
        reading.orders.isPlanned(planned) &&
        how !== null &&
        (await sending.conclude(ref.ledger, { no: ref.no, index }, planned, how)).concluded;
      if (!isDone) {
        missed.push({ order, why: `it is no longer ${was}` });
        continue;
      }
      done.push(one.place);
      const row = await reading.orders.row(context, index);
      ended.push({ order, state: row.state });
      board.push(row.state === 'paid' ? one.place : { ...one.place, now: orderRow(ref, row) });
      onProgress(ended.length);
    }
  } finally {
    await recordOrders(app.scripts, by, done, (which) => what(which, ended));
  }
  await followOnBoard(app, board);
  return { ended, missed };
}
