import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Tokens } from '../../src/operations/people/tokens.js';
import { type CallOptions, startDesk, type TestDesk } from '../support/program/desk.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { requireApproval } from '../support/program/require-approval.js';
import { until } from '../support/until.js';

/** Two people and one payment at the desk: who may approve, what they approve, and what a rejection does. */
let realm: PickyRealm;
let desk: TestDesk;
let ada: string;
let ben: string;
let cleo: string;

beforeAll(async () => {
  realm = await startPickyRealm();
  desk = await startDesk({ env: realm.env, options: { localToken: LOCAL } });
  const { tokens } = desk.server.desk;
  ada = await tokens.add('ada', ['operator', 'approver'], 'tester', Date.now());
  ben = await tokens.add('ben', ['approver'], 'tester', Date.now());
  cleo = await tokens.add('cleo', ['admin'], 'tester', Date.now());
  await requireApproval(desk.app, { overTokens: 100, overRows: null });
  await mkdir(join(desk.folder, 'jobs'), { recursive: true });
  await writeFile(join(desk.folder, 'jobs', 'gift.yaml'), RULE);
}, 60_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

const LOCAL = `almdesk_${'l'.repeat(43)}`;
const RULE = `name: gift
realm: picky
schedule: { cron: "0 9 * * 1", timezone: UTC, missed: once }
period: week
audience:
  members: [100001, 100002]
award:
  tokens: 5
limits: { perRun: 100 }
reason: A gift
`;

const error = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

async function ask(path: string, as: string, options: CallOptions = {}): Promise<unknown> {
  const reply = await desk.call(path, { ...options, as });
  expect([path, reply.status, reply.status < 400 ? '' : reply.text]).toEqual([path, 200, '']);
  return reply.json();
}
const say = (path: string, as: string, body: unknown = {}) => ask(path, as, { method: 'POST', body });

async function refused(path: string, as: string, body: unknown, method = 'POST') {
  const reply = await desk.call(path, { method, body, as });
  return [reply.status, error.parse(reply.json()).error.code];
}

const summary = z.object({
  summary: z.object({
    batch: z.string(),
    state: z.string(),
    reason: z.object({ code: z.string() }).nullable(),
  }),
});

async function prepared(csv: string, as = ada) {
  const { upload } = z
    .object({ upload: z.string() })
    .parse(await ask('/api/uploads?name=june.csv', as, { method: 'POST', body: csv }));
  const plan = z
    .object({ rows: z.number(), payable: z.object({ tokens: z.string() }) })
    .parse(await say(`/api/uploads/${upload}/plan`, as));
  const confirmed = { rows: plan.rows, tokens: plan.payable.tokens };
  return summary.parse(await say(`/api/uploads/${upload}/start`, as, confirmed)).summary;
}

const shown = z.object({
  hash: z.string(),
  payable: z.object({ orders: z.number(), tokens: z.string() }),
  gate: z.object({ preparer: z.string(), mayApprove: z.array(z.string()) }),
  difference: z.unknown(),
  whyNot: z.string().nullable(),
});
const look = async (batch: string, as: string) => shown.parse(await ask(`/api/approvals/${batch}`, as));

const waiting = z.object({
  batches: z.array(z.object({ batch: z.string(), whyNot: z.string().nullable() })),
  rules: z.array(z.object({ rule: z.string(), asked: z.object({ who: z.string() }) })),
});
const waits = async (as: string) => waiting.parse(await ask('/api/approvals', as));
const audited = async () =>
  z
    .object({
      entries: z.array(
        z.object({
          who: z.string(),
          what: z.string(),
          batch: z.string().nullable(),
          orders: z.number().nullable(),
          tokens: z.string().nullable(),
        }),
      ),
    })
    .parse(await ask('/api/audit', ada)).entries;

describe('a batch that needs an approval', () => {
  test('begins after another person’s approval, for exactly what was shown', async () => {
    await prepared('member,tokens\n100001,60\n');
    const { batch, state, reason } = await prepared('member,tokens\n100001,50\n100002,70\n100003,5\n');
    expect([state, reason?.code]).toEqual(['planned', 'ALM_BATCH_APPROVAL']);
    await until('the picture', async () => (await waits(ben)).batches.some((one) => one.batch === batch));
    expect((await waits(ada)).batches[0]?.whyNot).toContain('You prepared it');
    const seen = await look(batch, ben);
    expect(seen).toMatchObject({
      payable: { orders: 3, tokens: '125' },
      gate: { preparer: 'ada', mayApprove: ['ben'] },
      whyNot: null,
      // The file before it has paid nobody yet, and is no yardstick.
      difference: null,
    });
    expect((await look(batch, ada)).whyNot).toContain('You prepared it');
    expect((await look(batch, desk.tokens.viewer)).whyNot).toContain('role approver');

    const path = `/api/approvals/${batch}`;
    const go = { hash: seen.hash, tokens: '125' };
    expect(await refused(path, ada, go)).toEqual([403, 'ALM_PEOPLE_SAME']);
    for (const nobody of [desk.tokens.operator, desk.tokens.viewer, cleo, LOCAL])
      expect(await refused(path, nobody, go)).toEqual([403, 'ALM_DESK_ROLE']);
    expect(await refused(path, ben, { ...go, tokens: '124' })).toEqual([409, 'ALM_DESK_CHANGED']);
    expect(await refused(path, ben, { ...go, hash: 'f'.repeat(64) })).toEqual([409, 'ALM_PEOPLE_CHANGED']);
    expect(await refused(path, ben, { ...go, force: true })).toEqual([400, 'ALM_DESK_BAD_REQUEST']);
    expect(summary.parse(await ask(`/api/batches/${batch}`, ada)).summary.reason?.code).toBe(
      'ALM_BATCH_APPROVAL',
    );
    expect(await say(path, ben, go)).toMatchObject({ summary: { batch, reason: null } });
    expect(await refused(path, ben, go)).toEqual([409, 'ALM_PEOPLE_NOT_NEEDED']);
    expect((await audited()).find(({ what }) => what === 'approved the batch')).toEqual({
      who: 'ben',
      what: 'approved the batch',
      batch,
      orders: 3,
      tokens: '125',
    });
  });

  test('a rejection cancels the batch with its reason; a batch that waits for no approval cannot be rejected', async () => {
    const { batch } = await prepared('member,tokens\n100001,500\n');
    const path = `/api/approvals/${batch}/refuse`;
    const { hash } = await look(batch, ben);
    expect(await refused(path, desk.tokens.operator, { hash, reason: 'no' })).toEqual([403, 'ALM_DESK_ROLE']);
    const other = { hash: 'f'.repeat(64), reason: 'no' };
    expect(await refused(path, ben, other)).toEqual([409, 'ALM_PEOPLE_CHANGED']);
    expect(await refused(path, ben, {})).toEqual([400, 'ALM_DESK_BAD_REQUEST']);
    expect(await say(path, ben, { hash, reason: 'too much' })).toMatchObject({
      summary: { state: 'cancelled' },
    });
    expect(await ask(`/api/batches/${batch}/audit`, ada)).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({ who: 'ben', what: 'refused, and cancelled by that', why: 'too much' }),
      ]),
    });
    expect(await refused(path, ben, { hash, reason: 'again' })).toEqual([409, 'ALM_PEOPLE_NOT_NEEDED']);
    const { batch: free } = await prepared('member,tokens\n100009,1\n', desk.tokens.operator);
    expect(await refused(`/api/approvals/${free}/refuse`, ben, { hash, reason: 'no' })).toEqual([
      409,
      'ALM_PEOPLE_NOT_NEEDED',
    ]);
    expect(await refused(`/api/approvals/${free}`, ben, undefined, 'GET')).toEqual([
      409,
      'ALM_PEOPLE_NOT_NEEDED',
    ]);
  });

  test('cannot be prepared with the printed link, which says so before a total is typed', async () => {
    const { upload } = z
      .object({ upload: z.string() })
      .parse(
        await ask('/api/uploads?name=a.csv', LOCAL, { method: 'POST', body: 'member,tokens\n100001,1\n' }),
      );
    expect(await refused(`/api/uploads/${upload}/plan`, LOCAL, {})).toEqual([403, 'ALM_PEOPLE_NAMELESS']);
  });

  test('waits again when its approver’s token is revoked', async () => {
    const dora = z
      .object({ token: z.string() })
      .parse(await say('/api/tokens', cleo, { name: 'dora', roles: ['approver'] })).token;
    const { batch } = await prepared('member,tokens\n100001,700\n');
    const { hash } = await look(batch, dora);
    await say(`/api/approvals/${batch}`, dora, { hash, tokens: '700' });
    expect(await ask('/api/tokens/dora', cleo, { method: 'DELETE', body: { reason: 'left' } })).toEqual({
      waiting: [batch],
      rules: [],
      prepared: [],
    });
    expect((await desk.call('/api/session', { as: dora })).status).toBe(401);
    expect((await look(batch, ben)).whyNot).toBeNull();
    expect(await refused('/api/tokens/dora', cleo, {}, 'DELETE')).toEqual([404, 'ALM_DESK_TOKEN_UNKNOWN']);
    const lines = (await audited()).filter(({ what }) => what.includes('dora'));
    expect(lines.map(({ who, what }) => [who, what])).toEqual([
      ['cleo', 'revoked desk token dora'],
      ['cleo', 'added desk token dora (approver)'],
    ]);
    expect(JSON.stringify(lines)).not.toContain(dora);
  });
});

test('only an admin manages tokens, and no list contains a secret', async () => {
  for (const as of [ada, ben, desk.tokens.operator, desk.tokens.viewer])
    for (const [method, path] of [
      ['GET', '/api/tokens'],
      ['POST', '/api/tokens'],
      ['DELETE', '/api/tokens/ben'],
    ] as const)
      expect(await refused(path, as, undefined, method)).toEqual([403, 'ALM_DESK_ROLE']);
  const list = await desk.call('/api/tokens', { as: cleo });
  expect(list.json()).toMatchObject({
    tokens: expect.arrayContaining([
      expect.objectContaining({ name: 'ada', roles: ['operator', 'approver'], createdBy: 'tester' }),
    ]),
  });
  expect(list.text).not.toMatch(/hash|almdesk_/);
  expect(await refused('/api/tokens', cleo, { name: 'Ben', roles: ['viewer'] })).toEqual([
    409,
    'ALM_DESK_TOKEN_EXISTS',
  ]);
  const last = await refused('/api/tokens/cleo', cleo, {}, 'DELETE');
  expect(last).toEqual([409, 'ALM_DESK_LAST_ADMIN']);
  await say('/api/tokens', cleo, { name: 'fay', roles: ['admin'] });
  expect(await ask('/api/tokens/fay', cleo, { method: 'DELETE', body: {} })).toEqual({
    waiting: [],
    rules: [],
    prepared: [],
  });
  expect(await refused('/api/tokens', cleo, { name: 'eve', roles: [] })).toEqual([
    400,
    'ALM_DESK_BAD_REQUEST',
  ]);
});

test('one person requests a rule’s approval and another one, an approver, gives it', async () => {
  const rules = z.object({
    rules: z.array(
      z.object({
        text: z.object({ hash: z.string() }).nullable(),
        needsSecond: z.boolean(),
        asked: z.object({ who: z.string() }).nullable(),
        approved: z.object({ who: z.string(), asked: z.string().nullable() }).nullable(),
      }),
    ),
  });
  const [rule] = rules.parse(await ask('/api/rules', ada)).rules;
  expect(rule).toMatchObject({ needsSecond: true, asked: null, approved: null });
  const text = { hash: rule?.text?.hash };
  const body = { ...text, asked: null };
  const path = '/api/rules/gift/approve';
  for (const nobody of [desk.tokens.viewer, cleo]) expect((await refused(path, nobody, body))[0]).toBe(403);
  expect(await refused(path, LOCAL, body)).toEqual([403, 'ALM_PEOPLE_NAMELESS']);
  const asked = { rules: [{ asked: { who: 'ada' }, approved: null }] };
  expect(await refused(path, ada, text)).toEqual([400, 'ALM_DESK_BAD_REQUEST']);
  expect(await refused(path, ada, { ...text, asked: 'ben' })).toEqual([409, 'ALM_DESK_CHANGED']);
  expect(await say(path, ada, body)).toMatchObject(asked);
  // Who was shown that nobody had asked means to ask, and agrees to nothing.
  expect(await refused(path, ben, body)).toEqual([409, 'ALM_DESK_CHANGED']);
  const second = { ...text, asked: 'ada' };
  expect(await say(path, ada, second)).toMatchObject(asked);
  expect(await refused(path, desk.tokens.operator, second)).toEqual([403, 'ALM_PEOPLE_ROLE']);
  await until('the rule to be listed', async () => (await waits(ben)).rules[0]?.asked.who === 'ada');
  expect(await say(path, ben, second)).toMatchObject({
    rules: [{ asked: null, approved: { who: 'ben', asked: 'ada' } }],
  });
  const told = (await audited()).filter(({ what }) => what.includes('rule gift'));
  expect(told.map(({ who, what }) => `${who} ${what.slice(0, 12)}`)).toEqual([
    'ben approved rul',
    'ada asked for th',
  ]);
});

test('an approver of a rule sees its members, and cannot approve a list that changed since', async () => {
  const rules = z.object({
    rules: z.array(z.object({ text: z.object({ hash: z.string(), members: z.unknown() }) })),
  });
  const shown = async () => rules.parse(await ask('/api/rules', ben)).rules[0]?.text;
  const file = join(desk.folder, 'jobs', 'gift.yaml');
  await writeFile(file, RULE.replace('100001, 100002', '100002, 100003, 100004'));
  const first = await shown();
  expect(first?.members).toEqual({
    count: 3,
    first: ['100002', '100003', '100004'],
    changed: { added: { count: 2, first: ['100003', '100004'] }, gone: { count: 1, first: ['100001'] } },
  });
  const { text } = await desk.call('/api/rules/gift/members.csv', { as: ben });
  expect(text).toBe('member\n100002\n100003\n100004\n');
  // A path is no name: the file is not even looked for.
  for (const path of ['/etc/passwd', file]) {
    const reply = await desk.call(`/api/rules/${encodeURIComponent(path)}/members.csv`, { as: ben });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('ALM_RULE_NOT_FOUND');
  }
  const path = '/api/rules/gift/approve';
  await say(path, ada, { hash: first?.hash, asked: null });
  await writeFile(file, RULE.replace('100001, 100002', '100002, 100003, 100009'));
  expect(await refused(path, ben, { hash: first?.hash, asked: 'ada' })).toEqual([409, 'ALM_DESK_CHANGED']);
  // Approved as it is now, it is another request: by one person.
  await say(path, ben, { hash: (await shown())?.hash, asked: null });
  expect((await waits(ada)).rules).toMatchObject([{ rule: 'gift', asked: { who: 'ben' } }]);
});

test('a batch that waits for an approval raises an alert', async () => {
  const { batch } = await prepared('member,tokens\n100004,900\n');
  const overview = z.object({
    matters: z.array(
      z.object({ event: z.string(), batch: z.string().nullable(), realm: z.string().nullable() }),
    ),
    realms: z.array(z.object({ secondPerson: z.string().nullable() })),
    noWorker: z.boolean(),
  });
  const matters = async (event: string) =>
    overview.parse(await ask('/api/overview', ada)).matters.filter((one) => one.event === event);
  await until('the notice', async () => (await matters('batch.approval')).some((one) => one.batch === batch));
});

test('a token revoked while its request is still arriving changes nothing', async () => {
  const tokens = new Tokens(desk.app.scripts);
  const token = await tokens.add('slow', ['admin'], 'tester', Date.now());
  const client = desk.redis.client();
  const looks = async () =>
    Number(/cmdstat_hgetall:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
  const before = await looks();
  const body = JSON.stringify({ name: 'second-self', roles: ['admin'] });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const asked = request(`${desk.url}/api/tokens`, { method: 'POST', headers });
  const answered = once(asked, 'response');
  asked.write(body.slice(0, 1));
  await until('the token to be looked up', async () => (await looks()) > before);
  await tokens.revoke('slow');
  asked.end(body.slice(1));
  const [reply] = await answered;
  reply.resume();
  expect(reply.statusCode).toBe(401);
  expect((await tokens.list()).map(({ name }) => name)).not.toContain('second-self');
});
