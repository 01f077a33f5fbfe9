import { Readable } from 'node:stream';
import type { BatchId } from '../../../src/core/ids.js';
import { type MemberTable, readMemberTable } from '../../../src/csv/member-table.js';
import { openSource } from '../../../src/csv/open.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { type Plan, planSource } from '../../../src/planning/plan.js';
import { importPlan } from '../../../src/planning/store-plan.js';
import { importing } from './importing.js';
import { START, type TestBatch, testBatch } from './ledgers-on-redis.js';
import { feedAll, sendAs } from './order-moves.js';
import { testProfile } from './realm-profile.js';

/** Plans a file from its text, which the tests then import into the ledger. */
export async function planCsv(
  ledger: RealmLedger,
  csv: string,
  changes: {
    currency?: string;
    again?: string;
    batchId?: BatchId;
    skipInvalid?: boolean;
    newRowsOnly?: boolean;
    maxTokensPerBatch?: number;
    now?: number;
    /** The CSV text of a member table. */
    members?: string;
  } = {},
): Promise<Plan> {
  const { currency = null, skipInvalid = false, newRowsOnly = false, now = START } = changes;
  const profile = testProfile({ currency });
  const caps = { ...profile.caps, maxTokensPerBatch: changes.maxTokensPerBatch ?? null };
  const source = await openSource('-', { stdin: Readable.from([csv]) });
  const planned = await planSource(source, {
    ...{ ledger, profile: { ...profile, caps } },
    ...{ again: changes.again ?? null, batchId: changes.batchId ?? null, skipInvalid, newRowsOnly, now },
    table: changes.members === undefined ? null : await tableOf(changes.members),
  });
  await source.close();
  return planned;
}

async function tableOf(text: string): Promise<MemberTable> {
  const source = await openSource('-', { stdin: Readable.from([text]) });
  const table = await readMemberTable({ ...source, name: 'members.csv' });
  await source.close();
  if ('faults' in table) throw new Error(table.faults[0]?.message);
  return table;
}

export async function putPlan(
  ledger: RealmLedger,
  planned: Plan,
  batchId: BatchId | null = null,
): Promise<TestBatch> {
  const { ref } = await importPlan(planned, importing(ledger, { now: START, batchId }));
  const rows = await new PlanReader(ledger).block(ref.no, 0);
  return testBatch(ledger, ref.no, ref.id, rows);
}

export function faultCodes(planned: Plan): string[] {
  return planned.findings.faults().map(({ code }) => code);
}

/** Rows of 5 tokens that only their content identifies: no reference, no order number. */
export function bareCsv(...members: number[]): string {
  return `member,tokens\n${members.map((member) => `${member},5\n`).join('')}`;
}

/** The same rows, each standing in for one of the first orders of a batch. */
export function standInCsv({ ref }: TestBatch, ...members: number[]): string {
  const rows = members.map((member, i) => `${member},5,${ref.id}-${i + 1}\n`);
  return `member,tokens,almoner_order\n${rows.join('')}`;
}

/** Plans a file without faults, imports it and settles its first rows. */
export async function giveCsv(
  ledger: RealmLedger,
  csv: string,
  changes: Parameters<typeof planCsv>[2],
  ...states: readonly ('P' | 'R')[]
): Promise<TestBatch> {
  const planned = await planCsv(ledger, csv, changes);
  if (planned.findings.faultCount > 0) throw new Error(`refused: ${faultCodes(planned).join(', ')}`);
  return settleRows(await putPlan(ledger, planned), ...states);
}

/** Settles the first rows of a batch with the given outcomes. */
export async function settleRows(batch: TestBatch, ...states: readonly ('P' | 'R')[]): Promise<TestBatch> {
  await feedAll(batch);
  for (const [i, state] of states.entries()) await sendAs(batch, i + 1, state);
  return batch;
}
