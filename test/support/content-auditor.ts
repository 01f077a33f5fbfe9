import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { AppliedChange } from './realm-books.js';

/**
 * Holds the realm's books against a report without believing in keys: orders are told apart by their
 * content, of which there are no two alike. Answers what each state counts and every wrong verdict, in words.
 */
export type Verdicts = { readonly states: Record<string, number>; readonly wrong: readonly string[] };

const NEVER_APPLIED = ['refused', 'exhausted', 'cancelled', 'invalid', 'duplicate', 'planned'];

export async function auditByContent(
  applied: readonly AppliedChange[],
  reports: string,
  batch: string,
): Promise<Verdicts> {
  const rows = await resultsOf(reports, batch);
  const times = new Map<string, number>();
  for (const { op, member, recipient, tokens } of applied) {
    const content = `${op} ${member} ${recipient ?? ''} ${tokens}`;
    times.set(content, (times.get(content) ?? 0) + 1);
  }
  const wrong: string[] = [];
  const states: Record<string, number> = {};
  for (const { order = '', state = '', op, member, recipient, tokens } of rows) {
    const count = times.get(`${op} ${member} ${recipient ?? ''} ${tokens}`) ?? 0;
    states[state] = (states[state] ?? 0) + 1;
    if (count > 1) wrong.push(`${order} was applied ${count} times (${state})`);
    if (state === 'paid' && count !== 1) wrong.push(`${order} is paid and was applied ${count} times`);
    if (NEVER_APPLIED.includes(state) && count > 0) wrong.push(`${order} is ${state} and was applied`);
  }
  return { states, wrong };
}

/** Why orders are in doubt, without the numbers in it, and how many for each reason. */
export async function doubtsByReason(reports: string, batch: string): Promise<Record<string, number>> {
  const doubts: Record<string, number> = {};
  for (const { state, error = '' } of await resultsOf(reports, batch)) {
    const why = error.replaceAll(/\d+/g, 'N');
    if (state === 'doubt') doubts[why] = (doubts[why] ?? 0) + 1;
  }
  return doubts;
}

async function resultsOf(reports: string, batch: string): Promise<Record<string, string>[]> {
  return parse(await readFile(join(reports, batch, 'results.csv'), 'utf8'), { columns: true });
}
