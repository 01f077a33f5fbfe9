import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { isLong } from '../support/suites.js';
import { until } from '../support/until.js';

let desk: TestDesk;
const MEMBERS = 300;
/** Asking without a pause would take the time from what is measured. */
const ASK_EVERY_MS = 5;
/** A desk that is silent now and then, each time for long, answers within a share of the whole all the same. */
const SILENT_MAX_MS = 3_000;
/** Enough for a thread of its own. */
const MANY = 5_001;
const PATTERN = `"${'a'.repeat(17)}!".matches("^(a+)+$")`;

beforeAll(async () => {
  desk = await startDesk();
  const jobs = join(desk.folder, 'jobs');
  await mkdir(jobs, { recursive: true });
  for (const [name, condition, count] of [
    ['heavy', `'!${PATTERN} && row.score >= 0'`, MEMBERS],
    ['endless', `'"${'a'.repeat(60)}!".matches("^(a+)+$")'`, MEMBERS],
    ['many', 'row.score >= 0', MANY],
  ] as const) {
    const members = Array.from({ length: count }, (_, index) => `${index + 1},${index % 50}`);
    await writeFile(join(jobs, `${name}.csv`), `member,score\n${members.join('\n')}\n`);
    await writeFile(
      join(jobs, `${name}.yaml`),
      `name: ${name}\nrealm: embedded\nperiod: month\naudience: { file: ${name}.csv }\ncondition: ${condition}\naward: { tokens: 5 }\nreason: Thanks\n`,
    );
  }
  await writeFile(
    join(jobs, 'quarter.yaml'),
    'name: quarter\nrealm: embedded\nperiod: month\naudience: { members: [{ member: "9001", web3.level: 1.25 }] }\naward: { tokens: web3.level * 4, rounding: floor }\nreason: Thanks\n',
  );
});
afterAll(() => desk.close());

const task = z.object({
  task: z.string(),
  state: z.string(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  result: z.object({ plan: z.string().nullable(), batch: z.string().nullable() }),
});

const planned = (rule: string) => settled(`/api/rules/${rule}/plan`, {});

async function settled(path: string, body: unknown) {
  const reply = await desk.call(path, { method: 'POST', body });
  const { task: id } = task.parse(reply.json());
  return until(
    path,
    async () => {
      const now = task.parse((await desk.call(`/api/tasks/${id}`)).json());
      return now.state !== 'running' && now;
    },
    90_000,
  );
}

async function health(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let asked = 0; asked < count; asked++) {
    const begin = performance.now();
    expect((await desk.call('/health', { as: null })).status).toBe(200);
    times.push(performance.now() - begin);
  }
  return times;
}

/** From answer to answer while the desk was busy with this: it may also be silent while nobody asks. */
async function answersDuring<T>(work: Promise<T>) {
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  const began = performance.now();
  const times: number[] = [];
  for (let last = began; !over; await sleep(ASK_EVERY_MS)) {
    await health(1);
    times.push(performance.now() - last);
    last = performance.now();
  }
  return { result: await ended, times, tookMs: performance.now() - began };
}

test('the desk answers while a rule is planned, and no answer waits for the judging', async () => {
  const { result, times, tookMs } = await answersDuring(planned('heavy'));
  expect(result.error).toBeNull();
  // Judging alone takes most of the time; a desk that judged by itself would be silent for as long.
  expect(Math.max(...times)).toBeLessThan(Math.min(tookMs / 4, SILENT_MAX_MS));
  expect(times.length).toBeGreaterThan(20);
});

if (isLong)
  test('a large batch is made in a thread with connections of its own, and the desk answers meanwhile', async () => {
    const { result } = await planned('many');
    const body = { plan: result.plan, members: MANY, tokens: String(5 * MANY) };
    const redis = desk.redis.client();
    const making = answersDuring(settled('/api/rules/many/run', body));
    const isApart = async () => String(await redis.client('LIST')).includes('almoner:batch:');
    await until('a connection of the thread', isApart, 60_000);
    const made = await making;
    expect(made.result.error).toBeNull();
    expect(Math.max(...made.times)).toBeLessThan(made.tookMs / 4);
    const batch = (await desk.call(`/api/batches/${made.result.result.batch}`)).json();
    expect(batch).toMatchObject({
      summary: { rows: MANY, counts: { planned: MANY }, createdBy: 'olga' },
    });
    // The same plan once more is the same batch.
    expect((await settled('/api/rules/many/run', body)).result.batch).toBe(made.result.result.batch);
    expect(await isApart()).toBe(false);
    redis.disconnect();
  }, 120_000);

test('a rule without an end is ended, named with its member and its limit, and the desk goes on', async () => {
  const { state, error } = await planned('endless');
  expect(state).not.toBe('done');
  expect(error).toMatchObject({ code: 'ALM_RULE_TOO_SLOW' });
  expect(error?.message).toMatch(/rule endless .*1000 ms.*member 1\./);
  expect(await health(1)).toHaveLength(1);
});

test('a fraction in the audience is the same fraction when the embedded realm tells it', async () => {
  const { result } = await planned('quarter');
  const page = (await desk.call(`/api/rule-plans/${result.plan}`)).json();
  expect(page).toMatchObject({ awarded: 1, tokens: '5', stops: [] });
});
