import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchId, memberId } from '../../../src/core/ids.js';
import { tokens } from '../../../src/core/points.js';
import { openBatch } from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { noteMissed } from '../../../src/ledger/notes/scheduled-times.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { findBatch } from '../../../src/ledger/read/batches.js';
import type { BatchRef } from '../../../src/ledger/realm-ledger.js';
import { arm, disarm, readFence } from '../../../src/ledger/sessions/fence.js';
import { openAlmoner } from '../../../src/library/open.js';
import { beginRestored } from '../../../src/operations/backup/restore.js';
import { cancel, cancelImport, pause, resume } from '../../../src/operations/batches/steer.js';
import { discardDead, retryDead } from '../../../src/operations/dead/retry-discard.js';
import { checkRulings, raiseDoubts, resolveDoubts } from '../../../src/operations/doubts/resolve.js';
import { rulingsOnBatch } from '../../../src/operations/doubts/rulings.js';
import { planFile, planToPay } from '../../../src/operations/pay/plan-file.js';
import { keepColumns } from '../../../src/operations/pay/plan-input.js';
import { payPlan } from '../../../src/operations/pay/run-batch.js';
import { importBatch } from '../../../src/operations/pay/store-batch.js';
import { AuditTrail } from '../../../src/operations/people/audit.js';
import { addToken, revokeToken } from '../../../src/operations/people/manage-tokens.js';
import { openRule } from '../../../src/operations/rules/files.js';
import { dismissTimes, makeUp } from '../../../src/operations/rules/missed.js';
import { planRule } from '../../../src/operations/rules/plan.js';
import { importRun, makeBatchApart, payRun, usablePlan } from '../../../src/operations/rules/run.js';
import { type RuleStep, steerRule } from '../../../src/operations/rules/steer-rule.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import { addReferences } from '../../../src/operations/services/added-references.js';
import { resumeAfterRollback } from '../../../src/operations/services/after-rollback.js';
import { decideRecovery } from '../../../src/operations/services/decide-recovery.js';
import { resetPace } from '../../../src/operations/services/pace.js';
import { recoverRealms } from '../../../src/operations/services/recover.js';
import { recoveryState } from '../../../src/operations/services/recovery-state.js';
import { storyOf } from '../../../src/operations/services/recovery-story.js';
import type { App } from '../../../src/runtime/app.js';
import { pickProfile } from '../../../src/runtime/config/config.js';
import { textField } from '../../support/document.js';
import { changingOperations, unjudgedMoves } from '../../support/program/changing-operations.js';
import { openDesk, type TestDesk } from '../../support/program/desk.js';
import { Program } from '../../support/program/program.js';
import { until } from '../../support/until.js';

/**
 * Every operation that changes something writes one line, whichever way it is reached. Each is done here to a small ledger:
 * `town` pays, `vale` applies every change and cuts the answer off (doubts), `moor` does the same and honours keys (unknown
 * orders), `dale` is rolled back.
 */
let world: Program;
let app: App;
let desk: TestDesk;
const BEN = { name: 'ben', roles: ['operator' as const] };
const BY = { who: 'ben', why: 'because' };
const DAY_MS = 24 * 3_600_000;

beforeAll(async () => {
  const members = ['1', '2'].map((member) => ({ member, tokens: 1_000 }));
  const faults = ['reset-after:1'];
  world = await Program.start({
    members,
    realms: {
      vale: { members, faults, certainty: 'manual', profile: { settleMs: 1 } },
      moor: { members, faults },
      dale: { members },
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
}, 120_000);
afterAll(async () => {
  await desk.close();
  await world.end();
});

const trail = () => new AuditTrail(app.scripts).page(undefined, 200, {});

/** The lines that were written meanwhile, oldest first, without their time. */
async function linesOf(act: () => Promise<unknown>) {
  const before = (await trail()).entries.length;
  await act();
  const { entries } = await trail();
  return entries
    .slice(0, entries.length - before)
    .reverse()
    .map(({ at: _, ...line }) => line);
}

let files = 0;
async function newFile(member = '1'): Promise<string> {
  files += 1;
  const rows = [5, 7].map((amount, at) => `${member},${amount},${files}/${at}`);
  return world.file(`f${files}.csv`, `member,tokens,reference\n${rows.join('\n')}\n`);
}

const CHOICES = {
  again: null,
  currency: null,
  newAddress: false,
  newLedger: false,
  newRowsOnly: false,
  skipInvalid: false,
  expectRows: null,
  expectTokens: null,
};

async function planned(realm = 'town', file?: string) {
  const path = file ?? (await newFile());
  const request = { file: path, map: [], ...CHOICES };
  const found = await planToPay(app, pickProfile(app.config, realm), request);
  found.planned.plan.findings.close();
  return found;
}

async function imported(realm = 'town', file?: string): Promise<BatchRef> {
  const { realm: open, planned: plan } = await planned(realm, file);
  return (await importBatch(app, open, plan, { batchId: null, inOrder: false })).ref;
}

const goesOn = { first: null, stop: { aborted: false }, onProgress: () => {} };

/** A batch that was paid off in this process. */
async function paid(realm: string, member = '1'): Promise<BatchRef> {
  const { realm: open, planned: plan } = await planned(realm, await newFile(member));
  const { batch } = await payPlan(app, open, plan, goesOn);
  return findBatch(app.scripts, batch, realm);
}

const both = ({ ref }: { ref: BatchRef }) => [1, 2].map((index) => ({ ref, index }));
const line = (what: unknown, more: object = {}) => ({
  who: 'ben',
  what,
  why: null,
  batch: null,
  orders: null,
  tokens: null,
  ...more,
});
const BOTH = { orders: 2, tokens: '12' };

/** The rule's run of a day of its own, planned. */
let daysBack = 0;
async function run() {
  daysBack += 1;
  const realm = await app.realm(pickProfile(app.config, 'town'));
  const { meta } = await plannedRule(Date.now() - daysBack * DAY_MS);
  return { realm, meta };
}
async function plannedRule(at: number) {
  const realm = await app.realm(pickProfile(app.config, 'town'));
  const rule = await openRule(app.config, world.folder, 'daily');
  const { signal: stop } = new AbortController();
  return planRule(app, realm, rule, { at, scheduled: false, stop, onProgress: () => {} });
}

const missedAt = Date.parse('2020-11-16T09:00:00Z');
async function missed() {
  const times = [[missedAt, '2020-11-16', 'x']] as const;
  const realm = app.books(pickProfile(app.config, 'town'));
  await noteMissed(realm.ledger, 'daily', { zone: 'UTC', older: 0, times });
  return realm.ledger;
}

async function rolledBack(): Promise<BatchRef> {
  const ref = await imported('dale');
  const found = { at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 };
  await disarm(ref.ledger, found, 'anyway');
  await arm(ref.ledger, (await readFence(ref.ledger)).run, 0);
  return ref;
}

const steers = (step: RuleStep, what: string) => async () => ({
  act: () => steerRule(app, 'daily', step, 'because'),
  lines: [line(`${what} rule daily`, { why: 'because' })],
});

/** Each operation: what has to be there, then what is done, and the one line of it. */
const DEEDS: Readonly<
  Record<string, () => Promise<{ act: () => Promise<unknown>; lines: readonly object[] }>>
> = {
  'pay/store-batch.ts importBatch': async () => {
    const { realm, planned: plan } = await planned();
    const what = `import of ${plan.plan.source}: 2 rows`;
    return {
      act: () => importBatch(app, realm, plan, { batchId: null, inOrder: false }),
      lines: [line(what, { batch: expect.any(String), ...BOTH })],
    };
  },
  'pay/run-batch.ts payPlan': async () => {
    const { realm, planned: plan } = await planned();
    const what = `run of ${plan.plan.source}: 2 rows`;
    return {
      act: () => payPlan(app, realm, plan, goesOn),
      lines: [line(what, { batch: expect.any(String), ...BOTH })],
    };
  },
  'batches/steer.ts pause': async () => {
    const ref = await imported();
    const lines = [line(`paused batch ${ref.id}`, { why: 'because', batch: ref.id, ...BOTH })];
    return { act: () => pause(app.config, ref, BY), lines };
  },
  'batches/steer.ts resume': async () => {
    const ref = await imported();
    await pause(app.config, ref, BY);
    const lines = [line(`resumed batch ${ref.id}`, { why: 'because', batch: ref.id, ...BOTH })];
    return { act: () => resume(app, ref, BY), lines };
  },
  'batches/steer.ts cancel': async () => {
    const ref = await imported();
    const lines = [line(`cancelled batch ${ref.id}`, { why: 'because', batch: ref.id, ...BOTH })];
    return { act: () => cancel(app.config, ref, BY), lines };
  },
  'batches/steer.ts cancelImport': async () => {
    const { ledger } = await imported();
    const id = batchId('half-way');
    const { no } = await openBatch(ledger, { content: 'c0ffee', id, importer: 'died', createdAt: 1 });
    const order = { op: 'credit' as const, member: memberId('1'), recipient: null, tokens: tokens(1) };
    const row = { line: 2, order, reference: 'held', cells: [], fault: null, duplicateOf: null };
    const whole = { ...row, reason: null, replaces: null, undoes: null };
    const claims = blockClaims(1, [whole], () => undefined);
    await putBlock(ledger, { no, importer: 'died', block: 0 }, encodePlanBlock([whole]), claims);
    const what = 'gave up the import of batch half-way, which had not finished';
    const lines = [line(what, { why: 'because', batch: 'half-way' })];
    return { act: () => cancelImport({ ledger, no, id }, BY), lines };
  },
  'dead/retry-discard.ts retryDead': async () => {
    const ref = await paid('town', '404');
    const what = `retried ${ref.id}-1, ${ref.id}-2`;
    return {
      act: () => retryDead(app, both({ ref }), { ...BY, newAddress: false }, () => {}),
      lines: [line(what, { why: 'because', batch: ref.id, ...BOTH })],
    };
  },
  'dead/retry-discard.ts discardDead': async () => {
    const ref = await paid('town', '404');
    const what = `discarded ${ref.id}-1, ${ref.id}-2`;
    return {
      act: () => discardDead(app, both({ ref }), BY, () => {}),
      lines: [line(what, { why: 'because', batch: ref.id, ...BOTH })],
    };
  },
  'doubts/resolve.ts resolveDoubts': async () => {
    const ref = await paid('vale');
    const rulings = await checkRulings(await rulingsOnBatch(app.scripts, ref.id, 'paid', 'vale'));
    const what = `resolved ${ref.id}-1, ${ref.id}-2 as paid`;
    const lines = [line(what, { why: 'because', batch: ref.id, ...BOTH })];
    return { act: () => resolveDoubts(app, rulings, BY), lines };
  },
  'doubts/resolve.ts raiseDoubts': async () => {
    const { realm, planned: plan } = await planned('moor');
    const stop = { aborted: false };
    const { batch } = await payPlan(app, realm, plan, {
      first: null,
      stop,
      onProgress: ({ counts }) => {
        stop.aborted ||= counts.unknown === 2;
      },
    });
    const interrupted = `interrupted the run of batch ${batch}`;
    expect((await trail()).entries[0]).toMatchObject({ who: 'ben', what: interrupted, orders: 0 });
    const places = both({ ref: await findBatch(app.scripts, batch, 'moor') });
    const lines = [line(`made a doubt of ${batch}-1, ${batch}-2`, { why: 'because', batch, ...BOTH })];
    return { act: () => raiseDoubts(app, places, BY), lines };
  },
  'pay/plan-input.ts keepColumns': async () => {
    const file = await world.file('words.csv', 'wer,wieviel\n1,5\n');
    const map = ['member=wer', 'tokens=wieviel'];
    const books = app.books(pickProfile(app.config, 'town'));
    const { plan } = await planFile(books, { file, map, ...CHOICES }, Date.now(), app.config);
    plan.findings.close();
    const what = `kept the columns of ${plan.source} in realm town: member=wer, tokens=wieviel`;
    return { act: () => keepColumns(books.ledger, plan, 'ben'), lines: [line(what)] };
  },
  'pay/plan-file.ts planFile': async () => {
    const books = app.books(pickProfile(app.config, 'town'));
    const file = await world.file('words.csv', 'wer,wieviel\n1,5\n');
    const request = { file, map: [], forgetColumns: true, ...CHOICES };
    const what = 'forgot the columns kept in realm town: member=wer, tokens=wieviel';
    return {
      act: async () => (await planFile(books, request, Date.now(), app.config)).plan.findings.close(),
      lines: [line(what)],
    };
  },
  'people/manage-tokens.ts addToken': async () => ({
    act: () => addToken(app, 'cleo', ['viewer', 'approver']),
    lines: [line('added desk token cleo (viewer, approver)')],
  }),
  'people/manage-tokens.ts revokeToken': async () => ({
    act: () => revokeToken(app, 'cleo'),
    lines: [line('revoked desk token cleo')],
  }),
  'services/pace.ts resetPace': async () => ({
    act: () => resetPace(app, pickProfile(app.config, 'town'), 'because'),
    lines: [line('forgot what was learnt of the pace of realm town', { why: 'because' })],
  }),
  'services/added-references.ts addReferences': async () => {
    const references = ['x', 'y'].map((reference) => ({ line: 2, reference, order: null }));
    const note = { at: 1, who: 'ben', file: 'paid.csv', references: 2 };
    const realm = pickProfile(app.config, 'town');
    const what = 'marked 2 references of paid.csv as spent in realm town';
    return { act: () => addReferences(app, { realm, note, references }, () => {}), lines: [line(what)] };
  },
  'rules/sync.ts syncRules': async () => ({
    act: () => syncRules(app, { cwd: world.folder, approve: ['daily'], prune: false, why: 'because' }),
    lines: [line(expect.stringMatching(/^approved rule daily, text [0-9a-f]{12}$/), { why: 'because' })],
  }),
  'rules/steer-rule.ts steerRule': steers('pause', 'paused'),
  'rules/plan.ts planRule': async () => ({
    act: () => plannedRule(Date.now()),
    lines: [line(expect.stringMatching(/^planned rule daily: plan \w+$/), { orders: 2, tokens: '10' })],
  }),
  'rules/run.ts payRun': async () => {
    const { realm, meta } = await run();
    const plan = await usablePlan(realm, meta, Date.now());
    if (plan === null) throw new Error('no member gets anything');
    const what = `run of rule daily ${meta.period}, plan ${meta.id}: 2 rows`;
    return {
      act: () => payRun(app, realm, meta, plan, goesOn),
      lines: [line(what, { batch: expect.any(String), orders: 2, tokens: '10' })],
    };
  },
  'rules/run.ts importRun': async () => {
    const { realm, meta } = await run();
    const plan = await usablePlan(realm, meta, Date.now());
    if (plan === null) throw new Error('no member gets anything');
    const what = `import of rule daily ${meta.period}, plan ${meta.id}: 2 rows`;
    return {
      act: () => importRun(app, realm, meta, plan),
      lines: [line(what, { batch: expect.any(String), orders: 2, tokens: '10' })],
    };
  },
  'rules/run.ts makeBatchApart': async () => {
    const { realm, meta } = await run();
    const what = `import of rule daily ${meta.period}, plan ${meta.id}: 2 rows`;
    return {
      act: () => makeBatchApart(app, realm, meta, null, Date.now(), 'because'),
      lines: [line(what, { why: 'because', batch: expect.any(String), orders: 2, tokens: '10' })],
    };
  },
  'rules/missed.ts dismissTimes': async () => {
    await missed();
    const what = 'let 1 missed time of rule daily go: 2020-11-16T09:00Z';
    const lines = [line(what, { why: 'because' })];
    return { act: () => dismissTimes(app, 'daily', () => [missedAt], 'because'), lines };
  },
  'rules/missed.ts makeUp': async () => {
    const ledger = await missed();
    const of = { rule: 'daily', at: missedAt, period: '2020-11-16', id: 'a-run' };
    const what = 'made up the missed time 2020-11-16T09:00Z of rule daily';
    return { act: () => makeUp(app, ledger, of, null), lines: [line(what)] };
  },
  'services/after-rollback.ts resumeAfterRollback': async () => {
    const { id } = await rolledBack();
    const what = 'resumed realm dale after a rollback of the store';
    const lines = [line(what, { why: 'because', batch: id, ...BOTH })];
    return { act: () => resumeAfterRollback(app, 'dale', BY), lines };
  },
  'services/decide-recovery.ts decideRecovery': async () => {
    await rolledBack();
    const stories = (await recoveryState(app)).map(storyOf).filter(({ realm }) => realm === 'dale');
    const [decision] = stories.flatMap(({ decisions }) => decisions);
    if (decision === undefined) throw new Error('nothing is to be decided');
    const { kind, of, does: shown } = decision;
    const what = expect.stringMatching(/^resumed realm dale after a rollback of the store, in batches /);
    const lines = [line(what, { why: 'because', batch: expect.any(String), orders: 4, tokens: '24' })];
    return { act: () => decideRecovery(app, 'dale', { kind, of, shown }, 'because'), lines };
  },
  'services/recover.ts recoverRealms': async () => ({
    act: () => recoverRealms(app, { restored: true, realm: 'dale', why: 'because' }),
    lines: [line('said that the store of realm dale was put back from a copy', { why: 'because' })],
  }),
  'backup/restore.ts beginRestored': async () => ({
    act: () => beginRestored(app, { at: '2026-11-17T00:00:00.000Z' }),
    lines: [line('restored the store from the backup of 2026-11-17T00:00:00.000Z')],
  }),
};

describe('one line for each change', { timeout: 120_000 }, () => {
  test.each(Object.keys(DEEDS))('%s', async (name) => {
    const deed = await DEEDS[name]?.();
    if (deed === undefined) throw new Error(`no deed ${name}`);
    expect(await linesOf(deed.act)).toEqual(deed.lines);
  });

  test.each([
    ['resume', 'resumed'],
    ['skip', 'skipped the next run of'],
    ['revoke', 'took back the go of'],
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
  'people/approve.ts approve': 'an approval: its own tests',
  'people/approve.ts refuse': 'an approval: its own tests',
  'people/approve.ts changeRequired': 'an approval: its own tests',
  'people/audit.ts AuditTrail': 'it is the trail',
  'people/audit.ts record': 'it is the trail',
  'people/audit.ts recordIn': 'it is the trail',
  'people/audit.ts recordOrders': 'it is the trail',
  'people/tokens.ts Tokens': 'a part: addToken and revokeToken write the line',
  'people/manage-tokens.ts revokeIn': 'a part of revokeToken, and of a restore',
  'people/who.ts needPreparer': 'keeps what the profile requires, as the program does by itself',
  'people/keep-required.ts keepingRequired': 'keeps what the profile requires, as the program does by itself',
  'pay/plan-input.ts planInput': 'a part of planFile',
  'pay/store-batch.ts storeBatch': 'a part of importBatch, payPlan and the runs of a rule',
  'pay/unfinished-imports.ts releaseUnfinished': 'a part of cancelImport',
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
  'services/schedules.ts startSchedules':
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

describe('each way leaves the same line', { timeout: 120_000 }, () => {
  type Way = (ref: { id: string; dead: string }) => Promise<unknown>;
  const post = (path: string, body: object) => desk.call(path, { method: 'POST', body });
  const command = (...args: string[]) => world.run(...args, '--realm', 'town');
  const withLibrary = async (act: (almoner: Awaited<ReturnType<typeof openAlmoner>>) => Promise<unknown>) => {
    const almoner = await openAlmoner({ cwd: world.folder, env: world.env, realm: 'town' });
    await act(almoner).finally(() => almoner.close());
  };
  const WAYS: Readonly<Record<string, Readonly<Record<string, Way>>>> = {
    pause: {
      ada: ({ id }) => command('pause', id, '--reason', 'wait'),
      olga: ({ id }) => post(`/api/batches/${id}/pause`, { reason: 'wait' }),
      library: ({ id }) => withLibrary((almoner) => almoner.pause(id, { reason: 'wait' })),
    },
    cancel: {
      ada: ({ id }) => command('cancel', id, '--reason', 'wrong'),
      olga: ({ id }) => post(`/api/batches/${id}/cancel`, { reason: 'wrong' }),
      library: ({ id }) => withLibrary((almoner) => almoner.cancel(id, { reason: 'wrong' })),
    },
    discard: {
      ada: ({ dead }) => command('dead', 'discard', '--batch', dead, '--reason', 'left'),
      olga: ({ dead }) => post('/api/dead/discard', { batch: dead, expect: 2, reason: 'left' }),
    },
    retry: {
      ada: ({ dead }) => command('dead', 'retry', '--batch', dead, '--reason', 'joined'),
      olga: ({ dead }) => post('/api/dead/retry', { batch: dead, expect: 2, reason: 'joined' }),
    },
  };

  test.each(Object.keys(WAYS))('%s', async (step) => {
    const told: object[] = [];
    for (const [way, act] of Object.entries(WAYS[step] ?? {})) {
      const [open, dead] = [await imported(), await paid('town', '404')];
      const ids = { id: open.id, dead: dead.id };
      const before = (await trail()).entries.length;
      await act(ids);
      // The desk's tasks go on after the answer.
      await until('the line', async () => (await trail()).entries.length > before);
      const [{ at: _, ...one } = { at: '' }] = (await trail()).entries;
      expect((await trail()).entries).toHaveLength(before + 1);
      expect(one).toMatchObject({ who: way === 'library' ? 'ada' : way });
      told.push({
        ...JSON.parse(JSON.stringify(one).replaceAll(open.id, 'B').replaceAll(dead.id, 'D')),
        who: '',
      });
    }
    expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(told[0]).toMatchObject({ ...BOTH, why: expect.any(String) });
  });

  test('import', async () => {
    const told: object[] = [];
    const text = (reference: string) => `member,tokens,reference\n1,5,${reference}/1\n2,7,${reference}/2\n`;
    const ways = [
      async () => {
        await world.file('same.csv', text('cli'));
        textField(await command('import', 'same.csv', '--yes', '--json'), 'batch');
      },
      async () => {
        const body = text('desk');
        const reply = await desk.call('/api/uploads?name=same.csv', { method: 'POST', body });
        const { upload } = JSON.parse(reply.text);
        await post(`/api/uploads/${upload}/start`, { realm: 'town', rows: 2, tokens: '12' });
      },
      () =>
        withLibrary(async (almoner) => {
          await world.file('same.csv', text('library'));
          await almoner.enqueue({ file: 'same.csv' });
        }),
    ];
    for (const way of ways) {
      const lines = (await linesOf(way)).filter(({ what }) => !what.startsWith('uploaded'));
      expect(lines).toHaveLength(1);
      told.push(...lines.map(({ who: _, batch: __, ...one }) => one));
    }
    expect(told).toEqual(ways.map(() => ({ what: 'import of same.csv: 2 rows', why: null, ...BOTH })));
  });
});
