import { AlmonerError } from '../../core/errors/error.js';
import {
  attentionPage,
  type BatchRef,
  everyBatch,
  findBatch,
  PlanReader,
  type RowView,
  readBatch,
  readRow,
  type ScriptClient,
} from '../../ledger/index.js';

/** Walks the orders of some states over all batches, newest batch first, from any place on. */
export type WalkState = 'refused' | 'exhausted' | 'doubt';

export type Walk = {
  readonly realm?: string | undefined;
  readonly batch?: string | undefined;
  readonly states: readonly WalkState[];
  readonly cursor?: string | undefined;
};

export type Step = {
  readonly ref: BatchRef;
  readonly row: RowView;
  /** Goes on behind this row. */
  readonly cursor: string;
};

const STEP_ROWS = 64;

export async function* walkAttention(scripts: ScriptClient, walk: Walk): AsyncGenerator<Step> {
  const start = walk.cursor === undefined ? null : parseWalkCursor(walk.cursor);
  const refs = await batchesFor(scripts, walk);
  const first = start === null ? 0 : refs.findIndex((ref) => placeOf(ref) === start.place);
  for (const ref of first < 0 ? [] : refs.slice(first)) {
    const view = await readBatch(ref);
    if (view === undefined) continue;
    const here = start !== null && placeOf(ref) === start.place ? start : null;
    const context = { ref, plans: new PlanReader(ref.ledger), cancelled: view.state === 'cancelled' };
    for (const state of walk.states) {
      if (here !== null && walk.states.indexOf(here.state) > walk.states.indexOf(state)) continue;
      let after = here?.state === state ? here.index : 0;
      while ((view.counts[state] ?? 0) > 0) {
        const indexes = await attentionPage(ref, state, after, STEP_ROWS);
        const rows = await Promise.all(indexes.map((index) => readRow(context, index)));
        for (const row of rows)
          if (row.state === state) yield { ref, row, cursor: `${placeOf(ref)}.${state}.${row.index}` };
        after = indexes.at(-1) ?? after;
        if (indexes.length < STEP_ROWS) break;
      }
    }
  }
}

/** Newest first within each realm; the order never changes under a cursor but for batches that are new. */
export async function batchesFor(
  scripts: ScriptClient,
  { realm, batch }: Pick<Walk, 'realm' | 'batch'>,
): Promise<BatchRef[]> {
  if (batch !== undefined) return [await findBatch(scripts, batch, realm)];
  return (await everyBatch(scripts, realm)).sort(
    (a, b) => compare(a.ledger.id, b.ledger.id) || Number(b.no) - Number(a.no),
  );
}

export function placeOf({ ledger, no }: BatchRef): string {
  return `${ledger.id}.${no}`;
}

function parseWalkCursor(cursor: string): { place: string; state: WalkState; index: number } {
  const match = /^([0-9a-f]+\.[0-9]+)\.(refused|exhausted|doubt)\.([0-9]{1,9})$/.exec(cursor);
  const state = (['refused', 'exhausted', 'doubt'] as const).find((known) => known === match?.[2]);
  if (match?.[1] === undefined || state === undefined)
    throw new AlmonerError('ALM_DESK_BAD_REQUEST', 'The cursor is not one that the desk gave out.');
  return { place: match[1], state, index: Number(match[3]) };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
