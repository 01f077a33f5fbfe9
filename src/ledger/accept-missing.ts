import type { BatchRef } from './batches.js';
import { listBatches } from './batches.js';
import type { Books } from './books.js';
import { writeAudit } from './dead.js';
import { encodeDetail } from './detail.js';
import { openBatches } from './feeding.js';
import { PLAN_BLOCK_ROWS } from './keys.js';
import type { PlanReader } from './plan-store.js';
import { utcDay } from './sending.js';
import { forgetSession } from './sessions.js';

/**
 * The last resort: a session's journal will never be merged. The exact rule: in every open batch of the
 * realm, each order that is planned, waiting, unknown, or was being sent by that session becomes a doubt;
 * settled orders and what living sessions are sending stay. Less would be a guess: the store may have
 * forgotten that the session was fed and sent any of them. Nothing is ever sent because of it.
 */
export async function acceptMissing(
  books: Books,
  plans: PlanReader,
  session: string,
  by: { readonly who: string; readonly at: number },
): Promise<number> {
  const open = new Set((await openBatches(books, 0)).map(({ no }) => no));
  let doubts = 0;
  for (const ref of (await listBatches(books)).filter(({ no }) => open.has(no))) {
    const here = await giveUpBatch(ref, plans, session, by.at);
    if (here > 0)
      await writeAudit(ref, {
        ...by,
        what: `accepted the journal of session ${session} as lost: ${here} orders are in doubt`,
        why: null,
      });
    doubts += here;
  }
  await forgetSession(books, session);
  return doubts;
}

async function giveUpBatch(
  { books, no }: BatchRef,
  plans: PlanReader,
  session: string,
  at: number,
): Promise<number> {
  const { redis } = books.caller;
  const rows = Number(
    await books.caller.patiently('read batch', () => redis.hget(`${books.realm}:b:${no}`, 'rows')),
  );
  const detail = encodeDetail({
    event: 'concluded',
    at,
    state: 'doubt',
    by: 'recovery',
    code: 'ALM_SEND_OWNER_DIED',
    message: `the journal of session ${session} is lost, and it may have sent this order`,
  });
  let doubts = 0;
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const orders = (await plans.block(no, block)).flatMap((row, offset) =>
      row.order === null || row.duplicateOf !== null
        ? []
        : [block * PLAN_BLOCK_ROWS + offset + 1, row.order.tokens],
    );
    if (orders.length === 0) continue;
    const args = [no, session, detail, utcDay(at), ...orders];
    doubts += Number(await books.caller.script('give-up', books.realm, args));
  }
  return doubts;
}
