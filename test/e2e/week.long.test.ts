import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  anHourPasses,
  applied,
  csv,
  desk,
  endWeek,
  folder,
  gifts,
  json,
  MEMBERS,
  program,
  REALM,
  readPages,
  resolveByLog,
  retryUnpaid,
  standing,
  startWeek,
  statusOf,
  sumOf,
  tie,
  told,
  write,
} from '../support/program/week.js';
import { until } from '../support/until.js';

/** An operator's week: after each day every sum is held against the realm's log. */
beforeAll(startWeek, 180_000);
afterAll(endWeek);

test('Monday: a file, paid and reported', async () => {
  await write('monday.csv', csv(gifts(0, 100, 1)));
  const { status, said } = await json('run', 'monday.csv', '--yes');
  expect([status, said.state, said.counts]).toEqual([0, 'done', { paid: 100 }]);
  expect(sumOf(await applied(), 'credit')).toBe(5_050);
  const paid = (await readFile(join(said.report, 'paid.csv'), 'utf8')).trimEnd().split('\n');
  expect(paid).toHaveLength(101);
  await tie();
  const words = await readPages(said.batch);
  expect(words.get('/dead')).not.toMatch(/refused/);
  await until('the end to be told', () => told.some(({ type }) => type === 'batch.finished'));
});

test('Tuesday: the same file with thirty rows appended pays the thirty', async () => {
  const before = (await applied()).length;
  await write('tuesday.csv', csv(gifts(0, 130, 1)));
  const refused = await json('run', 'tuesday.csv', '--yes');
  expect(refused.status).toBe(3);
  expect(refused.said.faults[0].code).toBe('ALM_PLAN_LOOKS_PAID');
  expect(await applied(before)).toEqual([]);
  const { status, said } = await json('run', 'tuesday.csv', '--yes', '--new-rows-only');
  expect([status, said.counts]).toEqual([0, { paid: 30, duplicate: 100 }]);
  expect((await applied(before)).map(({ member }) => member).sort()).toEqual(MEMBERS.slice(100, 130));
  await tie();
  await readPages(said.batch);
});

test('Wednesday: the realm is away in the middle, said while it lasts, and nobody is paid twice', async () => {
  const before = (await applied()).length;
  await write('wednesday.csv', csv(gifts(0, 120, 1_000)));
  const { said } = await json('import', 'wednesday.csv', '--yes');
  await until('some payments', async () => (await applied(before)).length > 20, 60_000);
  await program.stopRealm();
  await until(
    'it to be said',
    async () => (await statusOf(said.batch)).waiting.some(({ why }) => why === 'breaker'),
    90_000,
  );
  const words = await readPages(said.batch);
  expect(words.get(`/batches/${said.batch}`)).toMatch(/cannot be reached|no definite answer/);
  await program.startRealm([]);
  await until('the end', async () => (await statusOf(said.batch)).state === 'done', 120_000);
  const { counts } = await statusOf(said.batch);
  // What was under way at the kill nobody can know of: the realm's log says which were applied.
  if ((counts.doubt ?? 0) > 0) await resolveByLog(said.batch);
  await retryUnpaid(said.batch);
  const paid = await applied(before);
  expect(new Set(paid.map(({ member }) => member)).size).toBe(120);
  expect(paid).toHaveLength(120);
  await until('its report by itself', async () =>
    readFile(join(folder, 'reports', said.batch, 'summary.json')).catch(() => undefined),
  );
  await tie();
});

test('Thursday: a wrong file, cancelled half-way, taken back and mended', async () => {
  const before = (await applied()).length;
  const rows = [50_000, 60_000, 70_000, 80_000, 90_000].flatMap((plus) => gifts(0, 140, plus));
  await write('wrong.csv', csv(rows));
  const wrong = (await json('import', 'wrong.csv', '--yes')).said;
  await until('some payments', async () => (await applied(before)).length > 10, 60_000);
  expect((await json('cancel', wrong.batch)).status).toBe(0);
  await until('nothing to be sent any more', async () => {
    const { state, counts } = await statusOf(wrong.batch);
    return state === 'cancelled' && (counts.sending ?? 0) + (counts.unknown ?? 0) === 0;
  });
  const paid = await applied(before);
  expect(paid.length).toBeLessThan(rows.length);
  expect((await statusOf(wrong.batch)).counts.paid).toBe(paid.length);
  await readPages(wrong.batch);
  expect((await json('undo', wrong.batch, '--out', 'undo.csv')).status).toBe(0);
  const undo = await json('run', 'undo.csv', '--yes');
  expect([undo.status, undo.said.counts]).toEqual([0, { paid: paid.length }]);
  const both = await applied(before);
  expect(sumOf(both, 'debit')).toBe(sumOf(both, 'credit'));
  await write('right.csv', csv(gifts(0, 100, 500)));
  const right = await json('run', 'right.csv', '--yes');
  expect([right.status, right.said.counts]).toEqual([0, { paid: 100 }]);
  await tie();
  const words = await readPages(undo.said.batch);
  expect(words.get(`/batches/${undo.said.batch}`)).toMatch(/take/i);
});

test('Friday: answers are lost, and the doubts are ended by a file', async () => {
  const before = (await applied()).length;
  await program.stopRealm();
  await program.startRealm(['reset-after:0.2', 'reset-before:0.2']);
  await write('friday.csv', csv(gifts(0, 120, 2_000)));
  const { status, said } = await json('run', 'friday.csv', '--yes');
  expect(status).toBe(4);
  expect(said.counts.doubt).toBeGreaterThan(5);
  const words = await readPages(said.batch);
  expect(words.get('/doubts')).toContain(String(said.counts.doubt));
  await until('the doubts to be told', () => told.some(({ type }) => type === 'batch.doubt'));
  await program.stopRealm();
  await program.startRealm([]);
  await resolveByLog(said.batch);
  expect((await statusOf(said.batch)).counts.doubt ?? 0).toBe(0);
  await retryUnpaid(said.batch);
  const paid = await applied(before);
  expect(new Set(paid.map(({ member }) => member)).size).toBe(120);
  expect(paid).toHaveLength(120);
  await tie();
  expect((await readPages(said.batch)).get('/doubts')).not.toMatch(/\bwaits? for your decision/);
});

const RULE = 'daily-thanks';
/** Hourly; its newest time came within the last minute. */
const minute = new Date().getUTCMinutes();
const rule = (tokens: number) => `name: ${RULE}
realm: ${REALM}
schedule: { cron: "${minute} * * * *", timezone: UTC, missed: once }
period: day
audience: { file: thanked.csv }
award: { tokens: ${tokens} }
limits: { perRun: 100000 }
reason: Thank you
`;
const Listed = z.object({
  rules: z.array(
    z.looseObject({
      rule: z.string(),
      standing: z.looseObject({ outcome: z.string(), isGood: z.boolean(), message: z.string() }).nullable(),
    }),
  ),
});
const standingOf = async () => Listed.parse((await json('rules', 'list')).said).rules[0]?.standing;
const outcome = (wanted: string) =>
  until(`outcome ${wanted}`, async () => (await standingOf())?.outcome === wanted, 60_000);

test('Saturday: a rule approved, changed and approved again; a schedule that fails says so', async () => {
  const before = (await applied()).length;
  const thanked = (to: number) => write('jobs/thanked.csv', `member\n${MEMBERS.slice(0, to).join('\n')}\n`);
  await thanked(10);
  await write('jobs/daily.yaml', rule(7));
  expect((await json('rules', 'sync')).status).toBe(0);
  expect((await standingOf())?.outcome).toBe('waits-for-go');
  expect((await readPages()).get('/rules')).toContain(RULE);
  expect((await json('rules', 'sync', '--approve', RULE)).status).toBe(0);
  await anHourPasses(RULE);
  await outcome('paid');
  expect(sumOf(await applied(before), 'credit')).toBe(70);

  // Changed, it pays nothing before somebody approves it again; then only those who are missing in the period.
  await thanked(14);
  await write('jobs/daily.yaml', rule(9));
  await anHourPasses(RULE);
  await outcome('waits-for-go');
  await until('it to be told', () => told.some(({ type }) => type === 'schedule.waits'));
  expect(sumOf(await applied(before), 'credit')).toBe(70);
  expect((await json('rules', 'sync', '--approve', RULE)).status).toBe(0);
  await anHourPasses(RULE);
  await until('the four who were missing', async () => (await applied(before)).length === 14, 60_000);
  expect(sumOf(await applied(before), 'credit')).toBe(70 + 4 * 9);
  await outcome('paid');
  await tie();

  // Its audience is gone: at the next time every place says so.
  await rm(join(folder, 'jobs', 'thanked.csv'));
  await anHourPasses(RULE);
  await outcome('fault');
  await until('it to be told', () =>
    told.some(({ type, message }) => type === 'schedule.failed' && message.includes('thanked.csv')),
  );
  const words = await readPages();
  for (const path of ['/', '/rules', '/notices']) expect(words.get(path)).toContain('thanked.csv');
  const metrics = await (
    await fetch(`${desk.url}/metrics`, { headers: { authorization: `Bearer ${desk.token}` } })
  ).text();
  expect(metrics).toMatch(/almoner_schedule_outcome\{[^}]*outcome="fault"\} 0/);
});

test('Sunday: everything told once, under one id, and nothing left to do but the schedule', async () => {
  expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
  const { said } = await json('status');
  const { batches } = z.object({ batches: z.array(standing) }).parse(said);
  for (const { state, counts } of batches) {
    expect(['done', 'cancelled']).toContain(state);
    expect(counts.doubt ?? 0).toBe(0);
  }
  await tie();
});
