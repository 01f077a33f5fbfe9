import { AlmonerError } from '../../core/errors/error.js';
import type { DecisionLine } from '../../csv/decisions.js';
import {
  attention,
  conclude,
  findBatch,
  isPlannedOrder,
  type RowContext,
  readArrivals,
  readRecord,
  readRow,
  type ScriptClient,
} from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { SETTLE_MS } from '../../runtime/config/settings.js';
import { counted, duration, isoTime } from '../../words/spelling.js';
import { profileOfBatch } from '../batches/batch-realm.js';
import { idOf, type OrderPlace, orderFinder, sharedContexts } from '../batches/find-orders.js';
import { type BoardChange, followOnBoard } from '../dead/dead-board.js';
import { deadLetter } from '../dead/dead-letters.js';

/**
 * An operator ends doubts. `paid` ends paid with evidence `operator`; `unpaid` ends exhausted, sends nothing,
 * and keeps the order's key, so that a later retry asks the same question again where the realm honours keys.
 * While its request may still arrive, nothing pays it again; whoever says unpaid before that is asked first.
 */
export const VERDICTS = ['paid', 'unpaid'] as const;
export type Verdict = (typeof VERDICTS)[number];
export type Ruling = { readonly place: OrderPlace; readonly verdict: Verdict };

export async function rulingsOnOrders(
  scripts: ScriptClient,
  orders: readonly string[],
  verdict: Verdict,
  realm?: string,
): Promise<Ruling[]> {
  const find = orderFinder(scripts, realm);
  const places = await Promise.all(orders.map(find));
  return places.map((place) => ({ place, verdict }));
}

export async function rulingsOnBatch(
  scripts: ScriptClient,
  batch: string,
  verdict: Verdict,
  realm?: string,
): Promise<Ruling[]> {
  const ref = await findBatch(scripts, batch, realm);
  const rulings: Ruling[] = [];
  for await (const index of attention(ref, 'doubt')) rulings.push({ place: { ref, index }, verdict });
  return rulings;
}

/** A row without a decision gets the one given for all, if any, and is otherwise left as it is. */
export async function rulingsOfFile(
  scripts: ScriptClient,
  lines: readonly DecisionLine[],
  forAll: Verdict | null,
  realm?: string,
): Promise<Ruling[]> {
  const faults: string[] = [];
  const rulings: Ruling[] = [];
  const find = orderFinder(scripts, realm);
  for (const { line, order, decision } of lines) {
    const written = VERDICTS.find((verdict) => verdict === decision);
    if (decision !== '' && written === undefined)
      faults.push(`line ${line}: decision ${JSON.stringify(decision)}, expected paid, unpaid or nothing`);
    else if (written !== undefined && forAll !== null && written !== forAll)
      faults.push(`line ${line}: decision ${written}, but --${forAll} was given for all`);
    const verdict = written ?? forAll;
    if (verdict === null || (decision !== '' && written === undefined)) continue;
    try {
      rulings.push({ place: await find(order), verdict });
    } catch (error) {
      if (!(error instanceof AlmonerError)) throw error;
      faults.push(`line ${line}: ${error.message}`);
    }
  }
  if (faults.length > 0) throw refused(faults);
  return rulings;
}

/** All are looked at before the first is touched; one that is wrong refuses them all. */
export async function checkRulings(rulings: readonly Ruling[]): Promise<Ruling[]> {
  const faults: string[] = [];
  const open = new Map<string, Ruling>();
  const contextOf = sharedContexts();
  for (const ruling of rulings) {
    const { ref, index } = ruling.place;
    const id = idOf(ruling.place);
    const key = `${ref.ledger.id} ${id}`;
    const earlier = open.get(key);
    if (earlier !== undefined && earlier.verdict !== ruling.verdict)
      faults.push(`${id} is named twice, as paid and as unpaid`);
    const { state, evidence } = await readRow(await contextOf(ref), index);
    const ended = ruling.verdict === 'paid' ? 'paid' : 'exhausted';
    if (state === 'doubt') open.set(key, ruling);
    // The same file given again, perhaps after half of it was done: what is as asked is passed over.
    else if (state !== ended || evidence !== 'operator') faults.push(`${id} is ${state}, not in doubt`);
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
    const { code, sentAt, tookMs } = await readRecord(ref, index);
    if (verdict !== 'unpaid' || code !== 'D') continue;
    const { nowMs, until } = await readArrivals(ref.ledger);
    const end = until((sentAt === null ? nowMs : sentAt + (tookMs ?? 0)) + settleMsOf(app, place));
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

export type Resolved = {
  readonly resolved: readonly { readonly order: string; readonly state: string }[];
  /** Somebody else ended them between the check and now. */
  readonly missed: readonly { readonly order: string; readonly why: string }[];
};

export async function resolveDoubts(
  app: App,
  rulings: readonly Ruling[],
  by: { readonly who: string; readonly why: string },
): Promise<Resolved> {
  const resolved: { order: string; state: string }[] = [];
  const missed: { order: string; why: string }[] = [];
  const board: BoardChange[] = [];
  const contextOf = sharedContexts();
  for (const { place, verdict } of rulings) {
    const order = idOf(place);
    const { ref, index } = place;
    const context = await contextOf(ref);
    const ended = await resolveOne(context, place, verdict, by, settleMsOf(app, place));
    if (ended !== 'ok') missed.push({ order, why: ended });
    else {
      const row = await readRow(context, index);
      resolved.push({ order, state: row.state });
      board.push({ ...place, now: verdict === 'paid' ? null : deadLetter(ref, row) });
    }
  }
  await followOnBoard(app, board);
  return { resolved, missed };
}

async function resolveOne(
  { plans }: RowContext,
  place: OrderPlace,
  verdict: Verdict,
  { who, why }: { readonly who: string; readonly why: string },
  settleMs: number,
): Promise<string> {
  const { ref, index } = place;
  const [row, record] = await Promise.all([plans.row(ref.no, index), readRecord(ref, index)]);
  if (!isPlannedOrder(row) || record.code !== 'D') return 'it is no longer in doubt';
  const paid = verdict === 'paid';
  const at = Date.now();
  const audit = { at, who, what: `doubt ${idOf(place)} resolved as ${verdict}`, why };
  const { concluded } = await conclude(ref.ledger, { no: ref.no, index }, row, {
    from: 'D',
    to: paid ? 'P' : 'X',
    evidence: 'operator',
    detail: {
      event: 'concluded',
      at,
      state: paid ? 'paid' : 'exhausted',
      by: who,
      code: paid ? null : 'ALM_SEND_SAID_UNPAID',
      message: `${who} resolved the doubt as ${verdict}: ${why}`,
    },
    sentAt: record.sentAt ?? at,
    dueInMs: 0,
    audit: JSON.stringify(audit),
    balance: null,
    tries: record.tries,
    settleMs,
  });
  return concluded ? 'ok' : 'it is no longer in doubt';
}

export function refused(faults: readonly string[]): AlmonerError {
  return new AlmonerError(
    'ALM_BATCH_DECISIONS',
    `${faults.length} of the orders cannot be decided as asked. Nothing was done.`,
    { details: faults.slice(0, 50) },
  );
}
