import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { AppliedChange } from './realm-records.js';

/**
 * An independent auditor. It compares the realm service's own records with a report, row by row, and shares no code
 * with the program: it reads only the two files.
 */
const NEVER_APPLIED = ['refused', 'exhausted', 'cancelled', 'invalid', 'duplicate', 'planned'];

type Row = Readonly<Record<string, string>>;
export type Verdicts = { readonly states: Record<string, number>; readonly wrong: readonly string[] };
export type Audited = {
  readonly paid: number;
  readonly applied: number;
  readonly states: Record<string, number>;
};

/** Compares by key: an order was applied if the service's log holds a change under its idempotency key. */
export async function auditReport(
  applied: readonly AppliedChange[],
  reports: string,
  batch: string,
): Promise<Audited> {
  const rows = await resultsOf(reports, batch);
  const byOrder = new Map<string, AppliedChange[]>();
  for (const change of applied) {
    const order = (change.idempotencyKey ?? '').replace(/\.\d+$/, '');
    byOrder.set(order, [...(byOrder.get(order) ?? []), change]);
  }
  const changesOf = ({ order = '' }: Row) => byOrder.get(order) ?? [];
  const { states, wrong } = judged(rows, (row) => changesOf(row).length);
  const altered = rows.filter((row) => changesOf(row).some((change) => contentOf(change) !== contentOf(row)));
  expect([...wrong, ...altered.map(({ order }) => `${order} was applied with other content`)]).toEqual([]);
  return { paid: states.paid ?? 0, applied: rows.flatMap(changesOf).length, states };
}

/**
 * Compares by content instead of keys, which requires that no two orders are alike. Returns every wrong report row as
 * text.
 */
export async function auditByContent(
  applied: readonly AppliedChange[],
  reports: string,
  batch: string,
): Promise<Verdicts> {
  const times = new Map<string, number>();
  for (const change of applied) times.set(contentOf(change), (times.get(contentOf(change)) ?? 0) + 1);
  return judged(await resultsOf(reports, batch), (row) => times.get(contentOf(row)) ?? 0);
}

/** Counts the orders in doubt by reason, with the numbers removed from the reason. */
export async function doubtsByReason(reports: string, batch: string): Promise<Record<string, number>> {
  const doubts: Record<string, number> = {};
  for (const { state, error = '' } of await resultsOf(reports, batch)) {
    const why = error.replaceAll(/\d+/g, 'N');
    if (state === 'doubt') doubts[why] = (doubts[why] ?? 0) + 1;
  }
  return doubts;
}

function judged(rows: readonly Row[], timesOf: (row: Row) => number): Verdicts {
  const wrong: string[] = [];
  const states: Record<string, number> = {};
  for (const row of rows) {
    const { order = '', state = '' } = row;
    const times = timesOf(row);
    states[state] = (states[state] ?? 0) + 1;
    if (times > 1) wrong.push(`${order} was applied ${times} times (${state})`);
    if (state === 'paid' && times !== 1) wrong.push(`${order} is paid and was applied ${times} times`);
    if (NEVER_APPLIED.includes(state) && times > 0) wrong.push(`${order} is ${state} and was applied`);
  }
  return { states, wrong };
}

function contentOf({ op, member, recipient, tokens }: Row | AppliedChange): string {
  return `${op} ${member} ${recipient ?? ''} ${Number(tokens)}`;
}

async function resultsOf(reports: string, batch: string): Promise<Row[]> {
  return parse(await readFile(join(reports, batch, 'results.csv'), 'utf8'), { columns: true });
}
