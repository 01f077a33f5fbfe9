import { readFileSync } from 'node:fs';
import { appendFile, cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { putDecisions } from '../../src/ledger/notes/rule-runs.js';
import { allLedgers } from '../../src/ledger/realm-ledger.js';
import { RuleThread } from '../../src/rules/rule-thread.js';
import { encodeEntries, type RunEntry } from '../../src/rules/run-record.js';
import { listRuns, putRun, readEntries } from '../../src/rules/run-store.js';
import { bareHttp } from '../support/bare-http.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

let desk: TestDesk;

beforeAll(async () => {
  desk = await startDesk();
  await mkdir(join(desk.folder, 'jobs'), { recursive: true });
  for (const name of ['penalty.yaml', 'penalty.csv', 'weekly.yaml', 'weekly.csv'])
    await cp(join('jobs', name), join(desk.folder, 'jobs', name));
});
afterAll(() => desk.close());

const rules = z.object({
  rules: z.array(
    z.object({
      rule: z.string(),
      state: z.string(),
      file: z.string(),
      reason: z.string().nullable(),
      nextRuns: z.array(z.object({ at: z.string(), period: z.string() })),
      text: z.object({ content: z.string(), hash: z.string() }).nullable(),
    }),
  ),
});
const task = z.object({
  task: z.string(),
  state: z.string(),
  error: z.object({ code: z.string() }).nullable(),
  result: z.object({ plan: z.string().nullable(), batch: z.string().nullable() }),
});
const page = z.object({
  rule: z.string(),
  members: z.number(),
  awarded: z.number(),
  tokens: z.string(),
  awards: z.array(z.object({ member: z.string(), awarded: z.boolean(), why: z.string() })),
});

async function settle(path: string, body: unknown = {}) {
  const begun = task.parse((await desk.call(path, { method: 'POST', body })).json());
  return until('the task to end', async () => {
    const now = task.parse((await desk.call(`/api/tasks/${begun.task}`)).json());
    return now.state !== 'running' && now;
  });
}

describe('rules at the desk', () => {
  test('are listed with their state and next runs, and no path of the machine', async () => {
    const reply = await desk.call('/api/rules');
    const listed = rules.parse(reply.json()).rules;
    expect(listed.map(({ reason }) => reason)).toEqual(
      listed.map(({ file }) => /^reason: (.*)$/m.exec(readFileSync(join('jobs', file), 'utf8'))?.[1]),
    );
    expect(listed.map(({ rule, state }) => [rule, state])).toEqual([
      ['missed-days', 'ready'],
      ['weekly-thanks', 'waits'],
    ]);
    expect(reply.text).not.toContain(desk.folder);
  });

  test('are looked at once for all who ask, however many', async () => {
    const jobs = vi.spyOn(RuleThread.prototype, 'ask');
    await appendFile(join(desk.folder, 'jobs', 'weekly.yaml'), '# changed\n');
    const asked = Array.from({ length: 100 }, () => desk.call('/api/rules', { as: desk.tokens.viewer }));
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]));
    const looks = jobs.mock.calls.filter(
      ([job, path]) => job === 'look' && String(path).endsWith('weekly.yaml'),
    );
    expect(looks).toHaveLength(1);
  });

  test('a rule with a schedule is approved by one person, for exactly the text that was shown', async () => {
    const waiting = async () => {
      const { rules: all } = rules.parse((await desk.call('/api/rules')).json());
      return all.find(({ rule }) => rule === 'weekly-thanks');
    };
    const approve = (body: unknown) =>
      desk.call('/api/rules/weekly-thanks/approve', { method: 'POST', body });
    const shown = await waiting();
    const path = join(desk.folder, 'jobs', 'weekly.yaml');
    expect(shown?.text?.content).toBe(await readFile(path, 'utf8'));
    // Between the look and the go somebody makes it pay more.
    await appendFile(path, '# and more\n');
    const late = await approve({ hash: shown?.text?.hash });
    expect(late.status).toBe(409);
    expect(late.json()).toMatchObject({ error: { code: 'ALM_DESK_CHANGED' } });
    for (const body of [{}, { hash: 'weekly-thanks' }]) expect((await approve(body)).status).toBe(400);
    // The command line's word for every rule is nobody's name here.
    const all = await desk.call('/api/rules/all/approve', {
      method: 'POST',
      body: { hash: shown?.text?.hash },
    });
    expect(all.json()).toMatchObject({ error: { code: 'ALM_RULE_NOT_FOUND' } });
    const now = await waiting();
    expect(now).toMatchObject({ state: 'waits' });
    const reply = await approve({ hash: now?.text?.hash });
    const approved = rules.parse(reply.json()).rules.find(({ rule }) => rule === 'weekly-thanks');
    expect(approved).toMatchObject({ state: 'ready', text: null });
    expect(approved?.nextRuns).toHaveLength(10);
    expect((await desk.call('/api/audit')).text).toContain(
      `approved rule weekly-thanks, text ${now?.text?.hash.slice(0, 12)}`,
    );
  });

  test('are planned, run as exactly that plan once confirmed, and explained afterwards', async () => {
    const planned = await settle('/api/rules/missed-days/plan');
    expect(planned.error).toBeNull();
    const plan = planned.result.plan ?? '';
    const preview = page.parse((await desk.call(`/api/rule-plans/${plan}`)).json());
    expect(preview.awards).toHaveLength(preview.members);
    const run = '/api/rules/missed-days/run';
    const wrong = { plan, members: preview.awarded, tokens: `${preview.tokens}0` };
    expect((await desk.call(run, { method: 'POST', body: wrong })).status).toBe(409);
    const made = await settle(run, { ...wrong, tokens: preview.tokens });
    const { batch } = made.result;
    const shown = (await desk.call(`/api/batches/${batch}`)).json();
    expect(shown).toMatchObject({ summary: { createdBy: 'olga', counts: { planned: preview.awarded } } });
    const sums = { orders: preview.awarded, tokens: preview.tokens };
    expect((await desk.call('/api/audit?limit=2')).json()).toMatchObject({
      entries: [
        {
          who: 'olga',
          what: expect.stringMatching(`^import of rule missed-days .*, plan ${plan}: `),
          batch,
          ...sums,
        },
        { who: 'olga', what: `planned rule missed-days: plan ${plan}`, batch: null, ...sums },
      ],
    });
    const [first] = preview.awards.filter(({ awarded }) => awarded);
    const told = await desk.call(`/api/rule-runs/${plan}/explain?member=${first?.member}`);
    expect(told.json()).toMatchObject({ rule: 'missed-days', awarded: true, facts: { row: {} } });
  });

  test('are not run from a plan that was made before their file was edited', async () => {
    const { result } = await settle('/api/rules/missed-days/plan');
    const plan = `/api/rule-plans/${result.plan}`;
    const shown = page.parse((await desk.call(plan)).json());
    expect((await desk.call(plan)).json()).toMatchObject({ edited: false });
    await appendFile(join(desk.folder, 'jobs', 'penalty.yaml'), '# another rule\n');
    expect((await desk.call(plan)).json()).toMatchObject({ edited: true });
    const body = { plan: result.plan, members: shown.awarded, tokens: shown.tokens };
    const ran = await settle('/api/rules/missed-days/run', body);
    expect([ran.error?.code, ran.result.batch]).toEqual(['ALM_RULE_EDITED', null]);
  });

  test('are explained one after the other, and not for a client that has left', async () => {
    const BLOCKS = 200;
    const [ledger] = await allLedgers(desk.app.scripts);
    const [run] = ledger === undefined ? [] : await listRuns(ledger);
    if (ledger === undefined || run === undefined) throw new Error('no run to explain');
    const first: RunEntry[] = [];
    for await (const entries of readEntries(ledger, run)) first.push(...entries);
    const long = { ...run, id: 'longrun', blocks: BLOCKS };
    await putRun(ledger, long);
    for (let block = 0; block < BLOCKS; block++)
      await putDecisions(ledger, long.id, block, encodeEntries(first));
    const blocksRead = async () => {
      const stats = await desk.app.scripts.redis.info('commandstats');
      return Number(/cmdstat_get:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const before = await blocksRead();
    const path = '/api/rule-runs/longrun/explain?member=1';
    const headers = { authorization: `Bearer ${desk.tokens.viewer}` };
    const leave = new AbortController();
    const asked = Array.from({ length: 20 }, () =>
      bareHttp(`${desk.url}${path}`, { headers, signal: leave.signal }).catch(() => null),
    );
    await until('the first to be looked for', async () => (await blocksRead()) > before + 1);
    leave.abort();
    await Promise.all(asked);
    expect((await desk.call(path)).json()).toMatchObject({ error: { code: 'ALM_RULE_NOT_IN_RUN' } });
    expect(await blocksRead()).toBeLessThanOrEqual(before + 3 * BLOCKS);
  });

  test('a rule is named by its name, never by a path', async () => {
    for (const name of ['..%2f..%2fpackage.json', '..%2fjobs%2fpenalty.yaml', 'penalty.yaml', 'nothing']) {
      const ended = await settle(`/api/rules/${name}/plan`);
      expect([name, ended.error?.code]).toEqual([name, 'ALM_RULE_NOT_FOUND']);
    }
  });
});
