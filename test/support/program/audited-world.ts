import { noteMissed } from '../../../src/ledger/notes/scheduled-times.js';
import { findBatch } from '../../../src/ledger/read/batches.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import type { BatchRef } from '../../../src/ledger/realm-ledger.js';
import { arm, disarm } from '../../../src/ledger/sessions/fence.js';
import { planToPay } from '../../../src/operations/pay/plan-file.js';
import { payPlan } from '../../../src/operations/pay/run-batch.js';
import { importBatch } from '../../../src/operations/pay/store-batch.js';
import { AuditTrail } from '../../../src/operations/people/audit.js';
import { addToken } from '../../../src/operations/people/manage-tokens.js';
import { openRule } from '../../../src/operations/rules/files.js';
import { planRule } from '../../../src/operations/rules/plan.js';
import type { App } from '../../../src/runtime/app.js';
import { pickProfile } from '../../../src/runtime/config/config.js';
import { openDesk, type TestDesk } from './desk.js';
import { Program } from './program.js';

/**
 * Realms for tests of the audit log. `town` pays. `vale` applies every change and then drops the connection (doubts).
 * `moor` does the same and honours keys (unknown orders). `dale` is rolled back. `glen` requires approvals.
 */
export let world: Program;
export let app: App;
export let desk: TestDesk;
const BEN = { name: 'ben', roles: ['operator' as const] };
export const ANN = { name: 'ann', roles: ['approver' as const] };
export const BY = { who: 'ben', why: 'because' };
const DAY_MS = 24 * 3_600_000;

export async function startAudited(): Promise<void> {
  const members = ['1', '2'].map((member) => ({ member, tokens: 1_000 }));
  const faults = ['reset-after:1'];
  world = await Program.start({
    members,
    realms: {
      vale: { members, faults, certainty: 'manual', profile: { settleMs: 1 } },
      moor: { members, faults },
      dale: { members },
      glen: { members, profile: { approval: { overTokens: 0 } } },
    },
  });
  await world.file(
    'jobs/daily.yaml',
    `name: daily
realm: town
schedule: { cron: "0 9 * * *", timezone: UTC, missed: once }
period: day
audience: { file: audience.csv }
award: { tokens: 5 }
limits: { perRun: 10000 }
reason: Daily
`,
  );
  await world.file('jobs/audience.csv', 'member\n1\n2\n');
  desk = await openDesk(world);
  app = (await world.app()).as(BEN);
  await addToken(app, ANN.name, ANN.roles);
}

export async function endAudited(): Promise<void> {
  await desk.close();
  await world.end();
}

export const trail = () => new AuditTrail(app.scripts).page(undefined, 5_000, {});

/** The audit lines written while `act` runs, oldest first, without their time. */
export async function linesOf(act: () => Promise<unknown>) {
  const before = (await trail()).entries.length;
  await act();
  const { entries } = await trail();
  return entries
    .slice(0, entries.length - before)
    .reverse()
    .map(({ at: _, ...line }) => line);
}

let files = 0;
export async function newFile(member = '1'): Promise<string> {
  files += 1;
  const rows = [5, 7].map((amount, at) => `${member},${amount},${files}/${at}`);
  return world.file(`f${files}.csv`, `member,tokens,reference\n${rows.join('\n')}\n`);
}

export const CHOICES = {
  again: null,
  currency: null,
  newAddress: false,
  newLedger: false,
  newRowsOnly: false,
  skipInvalid: false,
  expectRows: null,
  expectTokens: null,
};

export async function planned(realm = 'town', file?: string) {
  const path = file ?? (await newFile());
  const request = { file: path, map: [], ...CHOICES };
  const found = await planToPay(app, pickProfile(app.config, realm), request);
  found.planned.plan.findings.close();
  return found;
}

export async function imported(realm = 'town', file?: string): Promise<BatchRef> {
  const { realm: open, planned: plan } = await planned(realm, file);
  return (await importBatch(app, open, plan, { batchId: null, inOrder: false })).ref;
}

export const goesOn = { first: null, stop: { aborted: false }, onProgress: () => {} };

/** A batch that this process has paid completely. */
export async function paid(realm: string, member = '1'): Promise<BatchRef> {
  const { realm: open, planned: plan } = await planned(realm, await newFile(member));
  const { batch } = await payPlan(app, open, plan, goesOn);
  return findBatch(app.scripts, batch, realm);
}

export const both = ({ ref }: { ref: BatchRef }) => [1, 2].map((index) => ({ ref, index }));
export const line = (what: unknown, more: object = {}) => ({
  who: 'ben',
  what,
  why: null,
  batch: null,
  orders: null,
  tokens: null,
  ...more,
});
export const BOTH = { orders: 2, tokens: '12' };

/** Plans the rule's run, each time for a day that no other test uses. */
let daysBack = 0;
export async function run() {
  daysBack += 1;
  const realm = await app.realm(pickProfile(app.config, 'town'));
  const { meta } = await plannedRule(Date.now() - daysBack * DAY_MS);
  return { realm, meta };
}
export async function plannedRule(at: number) {
  const realm = await app.realm(pickProfile(app.config, 'town'));
  const rule = await openRule(app.config, world.folder, 'daily');
  const { signal: stop } = new AbortController();
  return planRule(app, realm, rule, { at, scheduled: false, stop, onProgress: () => {} });
}

export const missedAt = Date.parse('2020-11-16T09:00:00Z');
export async function missed() {
  const times = [[missedAt, '2020-11-16', 'x']] as const;
  const realm = app.realmContext(pickProfile(app.config, 'town'));
  await noteMissed(realm.ledger, 'daily', { zone: 'UTC', older: 0, times });
  return realm.ledger;
}

export async function rolledBack(): Promise<BatchRef> {
  const ref = await imported('dale');
  const found = { at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 };
  await disarm(ref.ledger, found, 'anyway');
  await arm(ref.ledger, (await readFence(ref.ledger)).run, 0);
  return ref;
}
