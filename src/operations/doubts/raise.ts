import { conclude, isPlannedOrder, readRecord, readRow } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { idOf, type OrderPlace, sharedContexts } from '../batches/find-orders.js';
import { type BoardChange, followOnBoard } from '../dead/dead-board.js';
import { deadLetter } from '../dead/dead-letters.js';
import { refused } from './resolve.js';

/**
 * An unknown that nothing resolves by itself becomes a doubt on an operator's word: it lets go of its members,
 * is not sent again, and waits for whoever decides it. What is being sent has an answer coming and is left alone.
 */
export type Raised = {
  readonly raised: readonly string[];
  /** They moved between the check and now. */
  readonly missed: readonly { readonly order: string; readonly why: string }[];
};

/** All are looked at before the first is touched. One that is in doubt already is as asked. */
export async function checkRaisable(places: readonly OrderPlace[]): Promise<OrderPlace[]> {
  const faults: string[] = [];
  const open = new Map<string, OrderPlace>();
  const contextOf = sharedContexts();
  for (const place of places) {
    const { ref, index } = place;
    const id = idOf(place);
    const { state } = await readRow(await contextOf(ref), index);
    if (state === 'unknown') open.set(`${ref.ledger.id} ${id}`, place);
    else if (state === 'sending') {
      const { session } = await readRecord(ref, index);
      faults.push(`${id} is being sent by session ${session ?? 'unknown'}: see \`almoner status ${ref.id}\``);
    } else if (state !== 'doubt') faults.push(`${id} is ${state}, not unknown`);
  }
  if (faults.length > 0) throw refused(faults);
  return [...open.values()];
}

export async function raiseDoubts(
  app: App,
  places: readonly OrderPlace[],
  { who, why }: { readonly who: string; readonly why: string },
): Promise<Raised> {
  const raised: string[] = [];
  const missed: { order: string; why: string }[] = [];
  const board: BoardChange[] = [];
  const contextOf = sharedContexts();
  for (const place of places) {
    const { ref, index } = place;
    const order = idOf(place);
    const context = await contextOf(ref);
    const row = await context.plans.row(ref.no, index);
    if (!isPlannedOrder(row)) continue;
    const at = Date.now();
    const message = `${who} made a doubt of it: ${why}`;
    const { concluded } = await conclude(ref.ledger, { no: ref.no, index }, row, {
      from: 'u',
      to: 'D',
      evidence: null,
      detail: { event: 'concluded', at, state: 'doubt', by: who, code: 'ALM_SEND_RAISED', message },
      sentAt: at,
      dueInMs: 0,
      audit: JSON.stringify({ at, who, what: `doubt ${order} raised`, why }),
      balance: null,
      tries: null,
    });
    if (!concluded) missed.push({ order, why: 'it is no longer unknown' });
    else {
      raised.push(order);
      board.push({ ...place, now: deadLetter(ref, await readRow(context, index)) });
    }
  }
  await followOnBoard(app, board);
  return { raised, missed };
}
