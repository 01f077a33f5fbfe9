import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type CallOptions, startDesk, type TestDesk } from '../support/program/desk.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { requireApproval } from '../support/program/require-approval.js';

/** The desk’s answer to a revoked token. */
let realm: PickyRealm;
let desk: TestDesk;

beforeAll(async () => {
  realm = await startPickyRealm();
  desk = await startDesk({ env: realm.env });
  await requireApproval(desk.app, { overTokens: 100, overRows: null });
  await mkdir(join(desk.folder, 'jobs'), { recursive: true });
  await writeFile(join(desk.folder, 'jobs', 'gift.yaml'), RULE);
}, 60_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

const RULE = `name: gift
realm: picky
schedule: { cron: "0 9 * * 1", timezone: UTC, missed: once }
period: week
audience: { members: [100001] }
award: { tokens: 5 }
limits: { perRun: 100 }
reason: A gift
`;

async function ask<T>(shape: z.ZodType<T>, path: string, options: CallOptions): Promise<T> {
  const reply = await desk.call(path, { method: 'POST', ...options });
  expect([path, reply.status, reply.status < 400 ? '' : reply.text]).toEqual([path, 200, '']);
  return shape.parse(reply.json());
}

test('names the rule that loses a request, and the batch that stays and waits', async () => {
  const { tokens } = desk.server.desk;
  const dora = await tokens.add('dora', ['operator'], 'tester', Date.now());
  const admin = await tokens.add('cleo', ['admin'], 'tester', Date.now());
  const { upload } = await ask(z.object({ upload: z.string() }), '/api/uploads?name=june.csv', {
    body: 'member,tokens\n100001,700\n',
    as: dora,
  });
  const started = z.object({ summary: z.object({ batch: z.string() }) });
  const body = { rows: 1, tokens: '700' };
  const { batch } = (await ask(started, `/api/uploads/${upload}/start`, { body, as: dora })).summary;
  const listed = await ask(
    z.object({ rules: z.array(z.object({ text: z.object({ hash: z.string() }) })) }),
    '/api/rules',
    { method: 'GET', as: dora },
  );
  const approval = { hash: listed.rules[0]?.text.hash, asked: null };
  await ask(z.unknown(), '/api/rules/gift/approve', { body: approval, as: dora });
  const gone = await desk.call('/api/tokens/dora', { method: 'DELETE', body: {}, as: admin });
  expect(gone.json()).toEqual({
    waiting: [],
    rules: [{ realm: 'picky', rule: 'gift', lost: 'request' }],
    prepared: [batch],
  });
});
