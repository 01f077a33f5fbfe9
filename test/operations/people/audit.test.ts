import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pause } from '../../../src/operations/batches/steer.js';
import { payPlan } from '../../../src/operations/pay/run-batch.js';
import { steerRule } from '../../../src/operations/rules/steer-rule.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import {
  app,
  BOTH,
  BY,
  endAudited,
  goesOn,
  imported,
  line,
  linesOf,
  newFile,
  planned,
  startAudited,
  world,
} from '../../support/program/audited-world.js';
import { changingOperations, unjudgedMoves } from '../../support/program/changing-operations.js';
import { DEEDS, steers } from './audited-deeds.js';

/** Every operation that changes something writes one audit line, in the name of the acting person. */
beforeAll(startAudited, 120_000);
afterAll(endAudited);

describe('one line for each change', { timeout: 120_000 }, () => {
  test.each(Object.keys(DEEDS))('%s', async (name) => {
    const deed = await DEEDS[name]?.();
    if (deed === undefined) throw new Error(`no deed ${name}`);
    expect(await linesOf(deed.act)).toEqual(deed.lines);
  });

  test.each([
    ['resume', 'resumed'],
    ['skip', 'skipped the next run of'],
    ['revoke', 'took back the approval of'],
  ] as const)('a rule: %s', async (step, what) => {
    const { act, lines } = await steers(step, what)();
    expect(await linesOf(act)).toEqual(lines);
  });

  test('no line where nothing is changed', async () => {
    const ref = await imported();
    await pause(app.config, ref, BY);
    expect(await linesOf(() => pause(app.config, ref, BY))).toEqual([]);
    expect(await linesOf(() => steerRule(app, 'daily', 'revoke', 'again'))).toEqual([]);
    expect(await linesOf(() => syncRules(app, { cwd: world.folder, approve: [], prune: false }))).toEqual([]);
  });

  test('the same orders again are one line more: the batch goes on', async () => {
    const file = await newFile();
    const ref = await imported('town', file);
    await pause(app.config, ref, BY);
    const again = { batch: ref.id, ...BOTH };
    expect(await linesOf(() => imported('town', file))).toEqual([
      line(`resumed batch ${ref.id} by an import of the same orders`, again),
    ]);
    await pause(app.config, ref, BY);
    const { realm, planned: plan } = await planned('town', file);
    expect(await linesOf(() => payPlan(app, realm, plan, goesOn))).toEqual([
      line(`resumed batch ${ref.id} by a run of the same orders`, again),
    ]);
  });
});

/** Changes that write no line, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  'people/audit.ts AuditTrail': 'it is the trail',
  'pay/kept-notes.ts keptNotes': 'a part of keepColumns and planFile',
  'rules/approve-rule.ts sayer': 'a part of syncRules',
  'people/audit.ts record': 'it is the trail',
  'people/audit.ts recordIn': 'it is the trail',
  'people/audit.ts recordOrders': 'it is the trail',
  'people/tokens.ts Tokens': 'a part: addToken and revokeToken write the line',
  'people/manage-tokens.ts revokeIn': 'a part of revokeToken, and of a restore',
  'pay/plan-input.ts planInput': 'a part of planFile',
  'pay/store-batch.ts storeBatch': 'a part of importBatch, payPlan and the runs of a rule',
  'orders/unfinished-imports.ts releaseUnfinished': 'a part of cancelImport',
  'pay/run-batch.ts runExisting': 'sends what retryDead, which writes the line, has put back to work',
  'pay/rehearsals.ts dropOldRehearsals': 'rehearsals leave nothing behind',
  'batches/batch-realm.ts letRealmGoOn': 'a part of resume, import and run',
  'batches/report.ts reportEnded': 'the program by itself: whose turn it is to write a report',
  'rules/before-go.ts beforeGo': 'reads the text that was approved',
  'rules/note-time.ts listBeforeChange': 'a part of syncRules',
  'rules/note-time.ts listWaited': 'the program by itself: a time has passed',
  'rules/note-time.ts noteTime': 'the program by itself: a time has passed',
  'rules/run.ts takeBatchBack': 'the program by itself: the seal was refused, and there is no batch',
  'rules/unfinished-runs.ts runToGoOnWith':
    'the program by itself: a run that was cut off can be no batch any more',
  'services/added-references.ts putReferencesBack': 'a part of a restore',
  'backup/restore.ts restoreBackup': 'beginRestored writes the line, in the store that was put back',
  'services/archive.ts archiveInPassing': 'the program by itself',
  'services/archive.ts startArchiving': 'the program by itself',
  'services/keep-open.ts keepLedgersOpen': 'the program by itself',
  'services/recovery.ts openForJudging': 'the program by itself: journals are merged',
  'services/recovery.ts recovering': 'the program by itself: journals are merged',
  'services/run-workers.ts workRealms': 'the program by itself',
  'rules/schedules.ts startSchedules':
    'the program by itself: its batches say in their own log who approved the rule',
};

describe('the source', () => {
  const known = new Set([...Object.keys(DEEDS), ...Object.keys(WITHOUT)]);

  test('every operation that changes something is done above, or says why it writes no line', () => {
    expect(unjudgedMoves()).toEqual([]);
    expect(changingOperations(known).filter((one) => !known.has(one))).toEqual([]);
  });

  test('nothing is listed that is there no more', () => {
    const all = changingOperations(new Set());
    expect([...known].filter((one) => !all.includes(one))).toEqual([]);
  });
});
