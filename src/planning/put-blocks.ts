import { orderId } from '../core/ids.js';
import { stoppedBy } from '../core/paid-before.js';
import { type BatchRef, batchRef, PLAN_BLOCK_ROWS, planning, type RealmLedger } from '../ledger/index.js';
import { refuseSpent } from './paid-before/before-seal.js';
import { denial } from './paid-before/judge-earlier.js';
import type { Plan } from './plan.js';

/** Puts under way at once: the store's fsync is shared, and its answer is not waited for row by row. */
const PUTS_AT_ONCE = 16;

export type Putting = {
  readonly ledger: RealmLedger;
  readonly importer: string;
  readonly onProgress: (rows: number) => void;
};

type Put = 'ok' | 'not-importer';

/** Stores every block of the plan, each with its references and marks. */
export async function putBlocks(plan: Plan, options: Putting, { no }: Pick<BatchRef, 'no'>): Promise<Put> {
  const imports = new OtherImports(options.ledger);
  let [next, stored] = [0, 0];
  let end: Put = 'ok';
  const putSome = async () => {
    while (next < plan.blocks.length && end === 'ok') {
      const block = { no, importer: options.importer, block: next++ };
      if ((await putOne(plan, options.ledger, imports, block)) === 'not-importer') end = 'not-importer';
      else options.onProgress(Math.min(++stored * PLAN_BLOCK_ROWS, plan.totals.rows));
    }
  };
  const puts = await Promise.allSettled(Array.from({ length: PUTS_AT_ONCE }, putSome));
  const failed = puts.find((put) => put.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return end;
}

async function putOne(
  plan: Plan,
  ledger: RealmLedger,
  imports: OtherImports,
  put: { readonly no: string; readonly importer: string; readonly block: number },
): Promise<Put> {
  const { block } = put;
  const [bytes, claims] = [plan.blocks[block], plan.referenceWrites[block]];
  if (bytes === undefined || claims === undefined) throw new Error(`the plan has no block ${block}`);
  for (;;) {
    const answer = await planning.blocks.put(ledger, put, bytes, claims);
    if (answer === 'ok' || answer === 'not-importer') return answer;
    for (const conflict of answer) await refuseConflict(ledger, imports, { bytes, block }, conflict);
    // Where none of them is spent any more, the block is tried again.
    await refuseSpent(plan, ledger);
  }
}

type Conflict = Exclude<Awaited<ReturnType<typeof planning.blocks.put>>, string>[number];

/** What no new look at the references would mend. */
async function refuseConflict(
  ledger: RealmLedger,
  imports: OtherImports,
  { bytes, block }: { readonly bytes: Buffer; readonly block: number },
  conflict: Conflict,
): Promise<void> {
  if (conflict.kind !== 'reference') {
    const order = orderId((await batchRef(ledger, conflict.no)).id, conflict.index);
    const against = await denial(ledger, conflict.kind, order, conflict.why);
    const line = planning.blocks.decode(bytes)[conflict.row - block * PLAN_BLOCK_ROWS - 1]?.line;
    throw stoppedBy({ ...against, message: `Line ${line}: ${against.message}` }, NOT_IMPORTED);
  }
  if (!conflict.importing || (await imports.isTakenBack(conflict.holder.no))) return;
  const ref = await batchRef(ledger, conflict.holder.no);
  const holder = orderId(ref.id, conflict.holder.index);
  const message = `Order ${holder} of an import that has not finished holds a reference of this file.`;
  throw stoppedBy({ code: 'ALM_PLAN_REFERENCE_BUSY', message }, NOT_IMPORTED);
}

const NOT_IMPORTED = 'Nothing was imported.';

/** Imports that hold references of this one. */
class OtherImports {
  private readonly met = new Map<string, Promise<boolean>>();

  constructor(private readonly ledger: RealmLedger) {}

  /** Taken back, once for all blocks, where its process is dead: whoever meant its file imports it again. */
  isTakenBack(no: string): Promise<boolean> {
    const known = this.met.get(no) ?? this.takeBack(no);
    this.met.set(no, known);
    return known;
  }

  private async takeBack(no: string): Promise<boolean> {
    return planning.imports.takeBackDead(await batchRef(this.ledger, no));
  }
}
