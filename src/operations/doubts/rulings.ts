import { AlmonerError } from '../../core/errors/error.js';
import type { DecisionLine } from '../../csv/decisions.js';
import { findBatch, reading, type ScriptClient } from '../../ledger/index.js';
import { idOf, type OrderPlace, orderFinder, readDoubtName } from '../orders/find-orders.js';

/** What a person decides about doubts: orders that are named, all doubts of a batch, or the rows of a file. */

const VERDICTS = ['paid', 'unpaid'] as const;
export type Verdict = (typeof VERDICTS)[number];
export type Asked = { readonly place: OrderPlace };
/** `doubt` is the number that the person named; null where they named the order alone. */
export type Ruling = Asked & { readonly verdict: Verdict; readonly doubt: string | null };

export async function rulingsOnOrders(
  scripts: ScriptClient,
  orders: readonly string[],
  verdict: Verdict,
  realm?: string,
): Promise<Ruling[]> {
  const find = orderFinder(scripts, realm);
  return Promise.all(
    orders.map(readDoubtName).map(async ({ order, doubt }) => ({ place: await find(order), verdict, doubt })),
  );
}

export async function rulingsOnBatch(
  scripts: ScriptClient,
  batch: string,
  verdict: Verdict,
  realm?: string,
): Promise<Ruling[]> {
  const ref = await findBatch(scripts, batch, realm);
  const rulings: Ruling[] = [];
  for await (const index of reading.unsettled.indexes(ref, 'doubt')) {
    const { doubt } = await reading.orders.record(ref, index);
    rulings.push({ place: { ref, index }, verdict, doubt });
  }
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
  for (const { line, order, doubt, decision } of lines) {
    const written = VERDICTS.find((verdict) => verdict === decision);
    if (decision !== '' && written === undefined)
      faults.push(`line ${line}: decision ${JSON.stringify(decision)}, expected paid, unpaid or nothing`);
    else if (written !== undefined && forAll !== null && written !== forAll)
      faults.push(`line ${line}: decision ${written}, but --${forAll} was given for all`);
    const verdict = written ?? forAll;
    if (verdict === null || (decision !== '' && written === undefined)) continue;
    try {
      const place = await find(order);
      if (doubt === '') faults.push(`line ${line}: ${await noDoubtNamed(place)}`);
      else rulings.push({ place, verdict, doubt });
    } catch (error) {
      if (!(error instanceof AlmonerError)) throw error;
      faults.push(`line ${line}: ${error.message}`);
    }
  }
  if (faults.length > 0) throw refused(faults);
  return rulings;
}

/** A row that was being sent or resolved when the file was written says nothing about a doubt that arose later. */
async function noDoubtNamed(place: OrderPlace): Promise<string> {
  const record = await reading.orders.record(place.ref, place.index);
  const now =
    reading.orders.stateOf(record) === 'doubt'
      ? `in doubt now, as ${record.doubt}`
      : `${reading.orders.stateOf(record)} now`;
  return `names no doubt, because ${idOf(place)} was not in doubt when the file was written; it is ${now}`;
}

export function refused(faults: readonly string[]): AlmonerError {
  return new AlmonerError(
    'ALM_BATCH_DECISIONS',
    `${faults.length} of the orders cannot be decided as asked. Nothing was done.`,
    { details: faults.slice(0, 50) },
  );
}
