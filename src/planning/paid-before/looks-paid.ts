import { currencyName } from '../../core/currencies.js';
import { isAlmonerError } from '../../core/errors/error.js';
import { type BatchId, type OrderId, orderId } from '../../core/ids.js';
import { NO_SUMS, type OpSums, plus, sumOf } from '../../core/op-sums.js';
import { stoppedBy } from '../../core/paid-before.js';
import { contentHash, contentWords } from '../../core/reference.js';
import { type Finding, ofFile } from '../../csv/row.js';
import {
  type BatchRef,
  PLAN_BLOCK_ROWS,
  type PlannedOrder,
  planning,
  type RealmLedger,
  readBatch,
  reading,
  steering,
} from '../../ledger/index.js';
import { counted, grouped, utcMinute } from '../../words/spelling.js';
import { type Findings, lineRanges } from '../findings.js';
import { ComparedRows } from './compared-rows.js';

import { findRepeats, type Repeats } from './repeats.js';
import { BareRows, type EqualOrder, equalOrders } from './sketch.js';

/** What comes of rows that were paid before: a stop, a warning, or, with --new-rows-only, that they are left out. */
const STOPS_FROM_ROWS = 5;
const STOPS_FROM_SHARE = 1 / 5;
const BATCHES_NAMED = 5;

export function noteRepeats(
  findings: Findings,
  repeats: Repeats,
  label: string | null,
  currency: string | null,
): void {
  const { count, compared, standIns, elsewhere, batches, unread } = repeats;
  const code = 'ALM_PLAN_LOOKS_PAID';
  for (const batch of unread) {
    const message = `Batch ${batch} is archived where this process cannot read it: nothing was compared with it.`;
    findings.warning(ofFile(code, message));
  }
  if (count === 0) return;
  // Of a recovered batch nobody knows what became of its other rows: its file is not paid with a warning alone.
  const isChance = standIns === 0 && elsewhere === 0 && batches.every(({ view }) => !view.recovered);
  if (isChance && count < STOPS_FROM_ROWS && count < compared * STOPS_FROM_SHARE) {
    for (const { batch, view, rows } of batches)
      for (const [, line, order] of rows) {
        const message = `The same row is order ${orderId(batch, order)} of ${utcMinute(view.manifest.createdAt)} (${view.manifest.source}${otherCurrency(view, currency)}), which is paid or may still be. It is paid once more; ${label === null ? '--new-rows-only leaves it out' : 'take it out of the file if it should not'}.`;
        findings.warning({ line, column: null, code, message });
      }
    return;
  }
  const named = batches.slice(0, BATCHES_NAMED).map(({ batch, view, rows }) => {
    const lines = lineRanges(rows.map(([, line]) => line));
    return `${lines} in batch ${batch} of ${utcMinute(view.manifest.createdAt)} (${view.manifest.source}, ${stands(view)}${otherCurrency(view, currency)})`;
  });
  const more =
    batches.length > BATCHES_NAMED
      ? ` and ${counted(batches.length - BATCHES_NAMED, 'other batch', 'other batches')}`
      : '';
  const out =
    label === null
      ? `--new-rows-only pays the other ${counted(compared - count, 'row')}; --again LABEL pays all of them on purpose. A file that is meant to repeat, such as a weekly one, takes a label each time, or a reference column.`
      : `They were given under the label ${JSON.stringify(label)} before: another label pays all of them on purpose; to pay the other ${counted(compared - count, 'row')}, take these out of the file.`;
  const message = `${grouped(count)} of its ${counted(compared, 'row')} without a reference ${count === 1 ? 'is an order' : 'are orders'} already, paid or still to be paid: ${named.join('; ')}${more}. ${elsewhere === 0 ? '' : `${counted(elsewhere, 'of them is', 'of them are')} to another member there: the table of members was another one. `}${out}`;
  findings.fault(ofFile(code, message));
}

/** Rows put together from the reports of two batches. */
export function noteTwins(findings: Findings, rows: ComparedRows): void {
  for (const [line, other] of rows.twins())
    findings.fault({
      line,
      column: 'almoner_order',
      code: 'ALM_PLAN_LOOKS_PAID',
      message: `The same row as line ${other}, and they stand in for orders of two batches. Where that is one payment, delete one of them; where both are meant, give the file with --again LABEL.`,
    });
}

/** Whether anybody works at it only its process could say. */
function otherCurrency({ manifest }: Repeats['batches'][number]['view'], currency: string | null): string {
  if (manifest.currency === currency) return '';
  return `, in ${currencyName(manifest.currency)}; this one is in ${currencyName(currency)}`;
}

function stands({ state }: Repeats['batches'][number]['view']): string {
  return state === 'running' || state === 'planned' ? 'not finished' : state;
}

/** Turns the rows that were paid before into duplicates, in the blocks and in what they claim. */
export function leaveOut(
  repeats: Repeats,
  blocks: Buffer[],
  claims: planning.BlockClaims[],
  /** Rows that the batch has already, by index: of the accounts of rules they hold their part themselves. */
  takenOver: ReadonlySet<number>,
): Spent {
  const held = new Map<number, Map<number, string>>();
  for (const { batch, rows } of repeats.batches)
    for (const [index, , order] of rows) {
      const block = Math.floor((index - 1) / PLAN_BLOCK_ROWS);
      const inBlock = held.get(block) ?? new Map<number, string>();
      held.set(block, inBlock.set((index - 1) % PLAN_BLOCK_ROWS, orderId(batch, order)));
    }
  let tokens = NO_SUMS;
  for (const [block, inBlock] of held) {
    const [bytes, claimed] = [blocks[block], claims[block]];
    if (bytes === undefined || claimed === undefined) throw new Error(`the plan has no block ${block}`);
    const rows = planning.blocks.decode(bytes).map((row, offset) => {
      const order = inBlock.get(offset);
      if (order === undefined) return row;
      if (row.order !== null) tokens = plus(tokens, sumOf(row.order.op, row.order.tokens));
      return { ...row, duplicateOf: order };
    });
    const first = block * PLAN_BLOCK_ROWS + 1;
    const duplicates = new Set([...inBlock.keys()].map((offset) => first + offset));
    blocks[block] = planning.blocks.encode(rows);
    claims[block] = planning.blocks.leftOut(claimed, { first, rows }, duplicates, takenOver);
  }
  return { count: repeats.count, tokens, batches: repeats.batches.map(({ batch }) => batch) };
}

/** What a plan says of a realm that was paid under another address: a fault, unless the new one is meant. */
export function addressFinding(
  { realm }: RealmLedger,
  earlier: readonly planning.EarlierAddress[],
  newRowsOnly = false,
): Finding {
  const places = earlier.map(
    ({ baseUrl, paid, open, lastAt }) =>
      `${baseUrl} (${[
        `${counted(paid, 'order')} paid`,
        ...(open === 0 ? [] : [`${open} that may still be`]),
        ...(lastAt === null ? [] : [`the last batch begun on ${utcMinute(lastAt)}`]),
      ].join('; ')})`,
  );
  return ofFile(
    'ALM_PLAN_OTHER_ADDRESS',
    `Realm ${realm.realmId} was paid before under another address: ${places.join(', ')}. The books of ${realm.baseUrl} know nothing of that: whatever was paid there would be paid again.${newRowsOnly ? ' Nor does --new-rows-only know which rows those are: take the rows of paid.csv of its reports out of the file yourself, and give it with --new-address alone.' : ''}`,
  );
}

/** What the audit says of a new address that is meant. */
export function whyMoved(earlier: readonly planning.EarlierAddress[]): string[] {
  return earlier.map(({ baseUrl }) => `new address: the realm was paid before at ${baseUrl}`);
}

/**
 * The gate that every batch passes before its seal, however it was planned and however long ago, and every dead letter
 * before it is retried: addresses that the person has seen are noted, any other stops it. The seal and the retry are at
 * a number that was read before (see announceAddress).
 */
export async function passAddresses(
  ledger: RealmLedger,
  seen: readonly planning.EarlierAddress[],
  by: { readonly who: string; readonly at: number },
): Promise<void> {
  await planning.addresses.announce(ledger);
  const unseen = (await planning.addresses.earlier(ledger)).filter(
    ({ baseUrl }) => !seen.some((address) => address.baseUrl === baseUrl),
  );
  refuseAddresses(ledger, unseen);
  await planning.addresses.accept(ledger, seen, by);
}

export function refuseAddresses(ledger: RealmLedger, earlier: readonly planning.EarlierAddress[]): void {
  if (earlier.length === 0) return;
  throw stoppedBy(addressFinding(ledger, earlier));
}

/** A dead letter, and its row. */
export type Letter = { readonly index: number; readonly row: PlannedOrder };

type Compared = { readonly judged: string; readonly paid: ReadonlyMap<number, OrderId> };

/**
 * Dead letters of one batch on their way back to work. Those without references, whose rows another file was given for
 * since, or of which an equal order of another batch was retried, stay: to retry them as well would pay them twice.
 * They are compared as those of a failed.csv are, all that the batch has of a row, whichever of them were named: one
 * by one and together they get the same answers. Under another address any of them may have been paid since: they pass
 * the gate of every import.
 */
export class PaidSince {
  private readonly named = new BareRows();
  private comparing: Promise<Compared> | undefined;

  constructor(
    private readonly ref: BatchRef,
    letters: readonly Letter[],
    /** Other addresses of the realm that the person has seen. */
    private readonly seen: readonly planning.EarlierAddress[] = [],
  ) {
    for (const { index, row } of letters)
      if (row.reference === null) this.named.add(index, row.line, contentWords(contentHash(row.order)));
  }

  /** Compares all again where another batch was sealed or retried since, or another address asked. */
  async retry({ index, row }: Letter, by: steering.RetriedBy): Promise<'ok' | steering.Refusal> {
    for (;;) {
      this.comparing ??= this.compare(by);
      const { comparing } = this;
      const compared = await comparing.catch(leftAlone);
      if ('why' in compared) return compared;
      const { judged, paid } = compared;
      const order = paid.get(index);
      if (order !== undefined) {
        const message = `the same row is order ${order} by now, which is paid or may still be; where both are meant, run its row of failed.csv with --again LABEL`;
        return { why: message, against: { order, code: 'ALM_PLAN_LOOKS_PAID', message } };
      }
      const answer = await steering.deadLetters.retry(this.ref, index, row, { ...by, judged });
      if (answer !== 'moved') return answer;
      if (this.comparing === comparing) this.comparing = undefined;
    }
  }

  private async compare(by: steering.RetriedBy): Promise<Compared> {
    const judged = await planning.earlier.judgedBeside(this.ref);
    await passAddresses(this.ref.ledger, this.seen, by);
    const paid = new Map<number, OrderId>();
    const view = await readBatch(this.ref);
    if (view === undefined || this.named.size === 0) return { judged, paid };
    const rows = new ComparedRows();
    rows.exact = true;
    const { contents } = await planning.sketches.read(this.ref, view.lastIndex);
    for await (const equal of equalOrders(this.ref, view.lastIndex, contents, [this.named]))
      for (const order of equal) {
        const { index, words } = order;
        if (!isBareLetter(order)) continue;
        rows.add(index, order.row.line, words, this.ref.no);
        const origin = planning.sketches.originWords(view.manifest, order.row);
        if (origin !== null) rows.addOrigin(index, order.row.line, origin, this.ref.no);
      }
    for (const { batch, rows: found } of (await findRepeats(this.ref.ledger, rows, by.at)).batches)
      for (const [index, , order] of found) paid.set(index, orderId(batch, order));
    return { judged, paid };
  }
}

/** What a retry could pay: neither what was discarded, nor what a row of another file stands in for. */
function isBareLetter({ row, record }: EqualOrder): boolean {
  const isDead = ['refused', 'exhausted'].includes(reading.orders.stateOf(record));
  return row.reference === null && reading.orders.isPlanned(row) && isDead && record.marks.length === 0;
}

/** Others of the same command may be back to work: this one alone is refused. */
function leftAlone(error: unknown): steering.Refusal {
  if (isAlmonerError(error, 'ALM_PLAN_OTHER_ADDRESS'))
    return { why: 'its realm was paid under another address meanwhile; retry it again to see where' };
  if (reading.isArchiveAway(error)) return { why: error.message };
  throw error;
}

export type Spent = {
  readonly count: number;
  readonly tokens: OpSums;
  readonly batches: readonly BatchId[];
};
