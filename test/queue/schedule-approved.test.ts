import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import { openRule } from '../../src/operations/rules/files.js';
import { planRule } from '../../src/operations/rules/plan.js';
import { makeBatch } from '../../src/operations/rules/run.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import type { RunMeta } from '../../src/rules/run-record.js';
import { listRuns } from '../../src/rules/run-store.js';
import type { App } from '../../src/runtime/app.js';
import { heldBefore } from '../support/ledger/held-script.js';
import { dying } from '../support/machines/dying.js';
import { almoner } from '../support/program/almoner.js';
import { batchRows, DAY_MS, dailySchedule, ledgerOf, MONDAY } from '../support/program/daily-schedule.js';
import { until } from '../support/until.js';

/** A schedule pays what a person approved, and does not continue a run that another person began. */
const daily = dailySchedule();

const command = (...args: string[]) => almoner(args, { env: daily.world().env, cwd: daily.world().folder });
/** Two blocks, so that a batch may be half stored. */
const EVERYBODY = Array.from({ length: 300 }, (_, index) => String(101 + index));

/** The same rule with another award, which no person has approved. */
async function edited(file: string, award: number): Promise<string> {
  const text = await readFile(join(daily.world().folder, 'jobs/daily.yaml'), 'utf8');
  await daily.world().file(join(file, '../audience.csv'), `member\n${EVERYBODY.join('\n')}\n`);
  return daily.world().file(file, text.replace('tokens: 5', `tokens: ${award}`));
}

async function planned(app: App, file: string): Promise<{ run: RunMeta; importing: () => Promise<unknown> }> {
  const [profile] = app.config.profiles;
  if (profile === undefined) throw new Error('no profile');
  const realm = await app.realm(profile);
  const rule = await openRule(app.config, daily.world().folder, file);
  const { signal: stop } = new AbortController();
  const { meta } = await planRule(app, realm, rule, {
    ...{ at: MONDAY, scheduled: false, stop },
    onProgress: () => {},
  });
  return { run: meta, importing: () => makeBatch(app, realm, meta, { now: Date.now() }) };
}

/** A manual run whose process dies while its batch is stored. */
async function cutOff(file: string): Promise<RunMeta> {
  const app = await daily.app();
  const { run, importing } = await planned(app, file);
  const death = dying(app, 'storing');
  await Promise.all([importing().catch(() => {}), death]);
  const left = (await listRuns(ledgerOf(await daily.app()))).find(({ id }) => id === run.id);
  if (left?.batch == null) throw new Error('it has not begun its batch');
  return left;
}

async function paidByBatch(app: App): Promise<(bigint | undefined)[]> {
  const views = await Promise.all((await listBatches(ledgerOf(app))).map((ref) => readBatch(ref)));
  return views.map((view) => view?.sums.planned);
}

describe('a run whose import was cancelled', () => {
  test('is over: the schedule plans a new one and does not resume it', async () => {
    await daily.audience(...EVERYBODY);
    const draft = await cutOff(await edited('drafts/daily.yaml', 20));
    const cancelled = await command('cancel', draft.batch ?? '', '--reason', 'wrong amounts');
    expect(cancelled.status, cancelled.stderr).toBe(0);
    const app = await daily.app();
    expect(await listRuns(ledgerOf(app))).toMatchObject([{ state: 'cancelled', batch: draft.batch }]);
    const again = await command('rules', 'run', '--plan', draft.id, '--yes', '--import');
    expect(again.status).toBe(3);
    expect(again.stderr).toMatch(`Plan ${draft.id} was cancelled`);

    const runs = await daily.schedule(app);
    daily.clock = MONDAY;
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'enqueued', message: null }]);
    expect(runs[0]?.run).not.toBe(draft.id);
    expect(await paidByBatch(app)).toEqual([1500n]);
  }, 60_000);

  test('stays over, even if its importer lives and is only locked out', async () => {
    const { run, making, goOn } = await heldAtSeal();
    const app = await daily.app();
    const [half] = await listBatches(ledgerOf(app));
    expect((await command('cancel', half?.id ?? '')).status).toBe(0);
    goOn();
    await expect(making).rejects.toThrow(/was cancelled while it was being imported/);
    expect(await listRuns(ledgerOf(app))).toMatchObject([{ id: run.id, state: 'cancelled' }]);
  }, 60_000);
});

test('a run of a text that is no longer approved is given up, with a reason', async () => {
  await daily.audience(...EVERYBODY);
  const first = await daily.app();
  const death = dying(first, 'storing');
  await daily.schedule(first);
  daily.clock = MONDAY;
  await death;
  await daily.endClaims();
  await edited('jobs/daily.yaml', 1);
  const app = await daily.app();
  const [old] = await listRuns(ledgerOf(app));
  daily.clock = MONDAY + 1;
  await syncRules(app, { cwd: daily.world().folder, approve: ['daily'], prune: false, now: daily.clock });
  const runs = await daily.schedule(app);
  daily.clock = MONDAY + DAY_MS;
  await until('the run', () => runs.length > 0);
  const why = expect.stringMatching(`Run ${old?.id} .* given up: it is of another text of the rule`);
  expect(runs).toMatchObject([{ at: MONDAY + DAY_MS, result: 'enqueued', message: why }]);
  expect(await paidByBatch(app)).toEqual([300n]);
}, 60_000);

describe('a manual run that is not sealed yet', () => {
  test('keeps the schedule off while it is stored: the time is skipped, and says so', async () => {
    const { run, making, goOn } = await heldAtSeal();
    const app = await daily.app();
    const runs = await daily.schedule(app);
    daily.clock = MONDAY;
    await until('the note', () => runs.length > 0);
    const [half] = await listBatches(ledgerOf(app));
    const message = expect.stringMatching(`Nothing was enqueued: batch ${half?.id}, run ${run.id}.*by hand`);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'skipped', run: run.id, batch: half?.id, message }]);
    expect(await batchRows(app)).toEqual([undefined]);
    goOn();
    expect(await making).toMatchObject({ existing: false });
    expect(await batchRows(app)).toEqual([2]);
  }, 60_000);

  test('keeps it off after its process died; with another text, only its id resumes it', async () => {
    await daily.audience(...EVERYBODY);
    const draft = await cutOff(await edited('drafts/daily.yaml', 20));
    const app = await daily.app();
    const runs = await daily.schedule(app);
    daily.clock = MONDAY;
    await until('the note', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'skipped', run: draft.id, batch: draft.batch }]);

    const run = ['rules', 'run', 'daily', '--at', '2020-11-16', '--import'];
    for (const given of [run, [...run, '--yes']]) {
      const refused = await command(...given);
      expect(refused.status).toBe(3);
      expect(refused.stderr).toMatch(`Run ${draft.id} of 2020-11 has not finished`);
      expect(refused.stderr).toMatch('ALM_RULE_EDITED');
      expect(refused.stderr).toMatch(`almoner rules run --plan ${draft.id}`);
    }
    expect(await paidByBatch(app)).toEqual([undefined]);
    const gone = await command('rules', 'run', '--plan', draft.id, '--yes', '--import', '--json');
    expect(gone.status, gone.stderr).toBe(0);
    expect(await paidByBatch(app)).toEqual([6000n]);
  }, 60_000);
});

/** A manual run whose process is frozen before its seal. */
async function heldAtSeal() {
  const slow = await daily.app();
  const { run, importing } = await planned(slow, 'jobs/daily.yaml');
  const { goOn, held } = heldBefore(slow, 'seal-batch');
  const making = importing();
  await held;
  return { run, making, goOn };
}
