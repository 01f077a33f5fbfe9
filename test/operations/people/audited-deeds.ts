import { expect } from 'vitest';
import { batchId, memberId } from '../../../src/core/ids.js';
import { tokens } from '../../../src/core/points.js';
import { openBatch } from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { findBatch } from '../../../src/ledger/read/batches.js';
import { approve, previewApproval, refuse } from '../../../src/operations/approvals/approvals.js';
import { revokeToken } from '../../../src/operations/approvals/revoke-token.js';
import { beginRestored } from '../../../src/operations/backup/restore.js';
import { cancel, cancelImport, pause, resume } from '../../../src/operations/batches/steer.js';
import { discardDead, retryDead } from '../../../src/operations/dead/retry-discard.js';
import { checkRulings, raiseDoubts, resolveDoubts } from '../../../src/operations/doubts/resolve.js';
import { rulingsOnBatch } from '../../../src/operations/doubts/rulings.js';
import { planFile } from '../../../src/operations/pay/plan-file.js';
import { keepColumns } from '../../../src/operations/pay/plan-input.js';
import { payPlan } from '../../../src/operations/pay/run-batch.js';
import { importBatch } from '../../../src/operations/pay/store-batch.js';
import { addToken } from '../../../src/operations/people/manage-tokens.js';
import { dismissTimes, makeUp } from '../../../src/operations/rules/missed.js';
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
import { pickProfile } from '../../../src/runtime/config/config.js';
import {
  ANN,
  app,
  BOTH,
  BY,
  both,
  CHOICES,
  goesOn,
  imported,
  line,
  missed,
  missedAt,
  paid,
  planned,
  plannedRule,
  rolledBack,
  run,
  trail,
  world,
} from '../../support/program/audited-world.js';

export const steers = (step: RuleStep, what: string) => async () => ({
  act: () => steerRule(app, 'daily', step, 'because'),
  lines: [line(`${what} rule daily`, { why: 'because' })],
});

/** Each operation that changes something: what has to be there, then what is done, and the one line of it. */
export const DEEDS: Readonly<
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
  'approvals/approvals.ts approve': async () => {
    const ref = await imported('glen');
    const { hash } = await previewApproval(app, ref);
    const lines = [line('approved the batch', { who: ANN.name, batch: ref.id, ...BOTH })];
    return { act: () => approve(app.as(ANN), ref, hash), lines };
  },
  'approvals/approvals.ts refuse': async () => {
    const ref = await imported('glen');
    const { hash } = await previewApproval(app, ref);
    const facts = { who: ANN.name, why: 'because', batch: ref.id, ...BOTH };
    const lines = [line('refused the batch, which is cancelled by that', facts)];
    return { act: () => refuse(app.as(ANN), ref, hash, 'because'), lines };
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
    const books = app.realmContext(pickProfile(app.config, 'town'));
    const { plan } = await planFile(books, { file, map, ...CHOICES }, Date.now(), app);
    plan.findings.close();
    const what = `kept the columns of ${plan.source} in realm town: member=wer, tokens=wieviel`;
    return { act: () => keepColumns(books.ledger, plan, 'ben'), lines: [line(what)] };
  },
  'pay/plan-file.ts planFile': async () => {
    const books = app.realmContext(pickProfile(app.config, 'town'));
    const file = await world.file('words.csv', 'wer,wieviel\n1,5\n');
    const request = { file, map: [], forgetColumns: true, ...CHOICES };
    const what = 'forgot the columns kept in realm town: member=wer, tokens=wieviel';
    return {
      act: async () => (await planFile(books, request, Date.now(), app)).plan.findings.close(),
      lines: [line(what)],
    };
  },
  'people/manage-tokens.ts addToken': async () => ({
    act: () => addToken(app, 'cleo', ['viewer', 'approver']),
    lines: [line('added desk token cleo (viewer, approver)')],
  }),
  'approvals/revoke-token.ts revokeToken': async () => ({
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
      act: () => payRun(app, realm, { run: meta, planned: plan }, goesOn),
      lines: [line(what, { batch: expect.any(String), orders: 2, tokens: '10' })],
    };
  },
  'rules/run.ts importRun': async () => {
    const { realm, meta } = await run();
    const plan = await usablePlan(realm, meta, Date.now());
    if (plan === null) throw new Error('no member gets anything');
    const what = `import of rule daily ${meta.period}, plan ${meta.id}: 2 rows`;
    return {
      act: () => importRun(app, realm, { run: meta, planned: plan }),
      lines: [line(what, { batch: expect.any(String), orders: 2, tokens: '10' })],
    };
  },
  'rules/run.ts makeBatchApart': async () => {
    const { realm, meta } = await run();
    const what = `import of rule daily ${meta.period}, plan ${meta.id}: 2 rows`;
    return {
      act: () => makeBatchApart(app, realm, meta, { now: Date.now(), why: 'because' }),
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
