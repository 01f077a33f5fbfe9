import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { AppliedChange } from './realm-books.js';

/**
 * The independent auditor: holds the realm service's own books against a report, row by row. An order was
 * applied when a change under its idempotency key stands in the service's log.
 */
export type Audited = {
  readonly paid: number;
  readonly applied: number;
  readonly states: Record<string, number>;
};

export async function auditReport(
  applied: readonly AppliedChange[],
  reports: string,
  batch: string,
): Promise<Audited> {
  const text = await readFile(join(reports, batch, 'results.csv'), 'utf8');
  const rows: Record<string, string>[] = parse(text, { columns: true });
  const byOrder = new Map<string, AppliedChange[]>();
  for (const change of applied) {
    const order = (change.idempotencyKey ?? '').replace(/\.\d+$/, '');
    byOrder.set(order, [...(byOrder.get(order) ?? []), change]);
  }
  const wrong: string[] = [];
  const states: Record<string, number> = {};
  let appliedHere = 0;
  for (const row of rows) {
    const order = row.order ?? '';
    const state = row.state ?? '';
    const changes = byOrder.get(order) ?? [];
    states[state] = (states[state] ?? 0) + 1;
    appliedHere += changes.length;
    if (changes.length > 1) wrong.push(`${order} was applied ${changes.length} times`);
    if (state === 'paid' && changes.length !== 1)
      wrong.push(`${order} is paid but was applied ${changes.length} times`);
    if (
      ['refused', 'exhausted', 'cancelled', 'invalid', 'duplicate', 'planned'].includes(state) &&
      changes.length > 0
    )
      wrong.push(`${order} is ${state} but was applied`);
    const [change] = changes;
    if (change !== undefined && !sameContent(row, change))
      wrong.push(`${order} was applied with other content`);
  }
  expect(wrong).toEqual([]);
  return { paid: states.paid ?? 0, applied: appliedHere, states };
}

function sameContent(row: Record<string, string>, change: AppliedChange): boolean {
  return (
    row.op === change.op &&
    row.member === change.member &&
    (row.recipient ?? '') === (change.recipient ?? '') &&
    Number(row.tokens) === change.tokens
  );
}
