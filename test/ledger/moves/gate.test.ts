import { describe, expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { approve, requestRetry, withdrawApprovals } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readGate, type Start } from '../../../src/ledger/read/gate.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { feed } from '../../support/ledger/feed-one.js';
import {
  type Line,
  ledgersOnRedis,
  limitedTo,
  sealed,
  type TestBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, claimFor, feedAll, sendAs, WHY } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { timePasses } from '../../support/ledger/time-passes.js';

/** No batch begins before its set time, or without an approval that its sender requires. */
const bench = ledgersOnRedis();

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const OVER_100 = { overTokens: 100, overRows: null };
const EVERYTHING = { overTokens: 0, overRows: null };
const NONE: Requirement = { overTokens: null, overRows: null };

/** The ledger as a process sees it whose profile lets one person pay 100 tokens alone. */
const limited = async () => limitedTo(await bench.ledger(), OVER_100);

function preparedBy(ledger: RealmLedger, who: string, lines: readonly Line[], more: { start?: Start } = {}) {
  const { requirement: limits } = ledger.asked;
  return sealed(ledger, lines, { id: `b-${++made}`, prepared: { who, limits, ...more } });
}
let made = 0;

const approveAs = ({ ref }: TestBatch, who: string, hash?: string): Promise<string> =>
  approveBatch(ref, who, hash);
const aDayPasses = (ledger: RealmLedger, who: string) => timePasses(ledger, who, DAY);
const stored = ({ ledger, no }: TestBatch, field: string) =>
  ledger.scripts.redis.hget(`${ledger.keyPrefix}:b:${no}`, field);
const set = ({ ledger, no }: TestBatch, field: string, value: string | number) =>
  ledger.scripts.redis.hset(`${ledger.keyPrefix}:b:${no}`, field, value);
const gateOf = async ({ ref }: TestBatch) => (await readGate(ref)).gate;
const fed = (batch: TestBatch) => feed(batch.ledger, batch.no, 100, batch.owner);
const resume = (batch: TestBatch) => resumeBatch(batch.ref, audit('resumed'), { owner: '' });
const resumeNow = (batch: TestBatch) => resumeBatch(batch.ref, audit('begun'), { owner: '', now: true });

describe('in a realm that requires approvals', () => {
  test('a batch within one person’s limit begins, and a larger one waits for another person', async () => {
    const ledger = await limited();
    const small = await preparedBy(ledger, 'ada', [{ tokens: 60 }]);
    expect(await fed(small)).toEqual([1]);
    const large = await preparedBy(ledger, 'ada', [{ tokens: 41 }]);
    expect(await stored(large, 'state')).toBe('waiting');
    expect(await fed(large)).toEqual([]);
    expect(await resume(large)).toEqual({ done: false, state: 'approval' });
    expect(await readBatch(large.ref)).toMatchObject({
      state: 'planned',
      owner: '',
      reason: {
        code: 'ALM_BATCH_APPROVAL',
        next: expect.stringContaining(`almoner approve ${large.ref.id}`),
      },
    });
    expect(await approveAs(large, 'Ada')).toBe('same-person');
    expect(await approveAs(large, 'ben')).toBe('approved');
    expect(await gateOf(large)).toMatchObject({
      closed: null,
      preparer: 'ada',
      request: { approved: { who: 'ben' } },
    });
    expect(await approveAs(large, 'cleo')).toBe('not-needed');
    expect(await fed(large)).toEqual([1]);
    expect(await stored(large, 'approval')).toBeNull();
    expect(await approveAs(large, 'cleo')).toBe('not-needed');
    expect((await readAudit(large.ref)).map(({ what }) => what)).toContain('approved');
    // Approved payments do not count against the limit of one person. Another person starts at zero.
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 40 }]))).toEqual([1]);
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 1 }]))).toEqual([]);
    expect(await fed(await preparedBy(ledger, 'ben', [{ tokens: 100 }]))).toEqual([1]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a batch without a known preparer is not sealed', async () => {
    const ledger = await limited();
    const prepared = { limits: OVER_100 };
    await expect(sealed(ledger, [{ tokens: 1 }], { prepared })).rejects.toThrow('nameless');
  });

  test('each sender applies its own profile; a batch without a known preparer must be cancelled and imported again', async () => {
    const plain = await bench.ledger();
    const strict = limitedTo(plain, OVER_100);
    const known = await preparedBy(plain, 'ada', [{ tokens: 101 }]);
    const nameless = await sealed(plain, [{ tokens: 1 }], { id: 'nameless' });
    for (const batch of [known, nameless]) {
      expect(await stored(batch, 'state')).toBe('planned');
      expect(await feed(strict, batch.no, 9, '')).toEqual([]);
      expect(await stored(batch, 'state')).toBe('waiting');
      // It waits also for senders whose profile requires nothing.
      expect(await feed(plain, batch.no, 9, '')).toEqual([]);
    }
    expect(await approveAs(nameless, 'ben')).toBe('nameless');
    expect((await readBatch(nameless.ref))?.reason?.message).toContain('without a token');
    expect(await approveAs(known, 'ben')).toBe('approved');
    expect(await feed(strict, known.no, 9, '')).toEqual([1]);
    expect(await tieUp(plain)).toEqual([]);
  });

  test('a sender’s own limits do not count against what the preparer may pay alone', async () => {
    const plain = await bench.ledger();
    const strict = limitedTo(plain, OVER_100);
    const large = await preparedBy(plain, 'ada', [{ tokens: 101 }]);
    await feed(strict, large.no, 9, '');
    const small = await preparedBy(plain, 'ada', [{ tokens: 100 }]);
    expect(await feed(strict, small.no, 9, '')).toEqual([1]);
  });

  test('an approval covers exactly what was shown, and a paused batch waits as before', async () => {
    const batch = await preparedBy(await limited(), 'ada', [{ tokens: 500 }]);
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await resume(batch)).toEqual({ done: true, state: 'waiting' });
    expect(await fed(batch)).toEqual([]);
    expect(await approveAs(batch, 'ben', '0'.repeat(64))).toBe('changed');
    const hash = (await readBatch(batch.ref))?.confirmed ?? '';
    for (const shown of [
      { orders: 2, tokens: 500n, retried: 0 },
      { orders: 1, tokens: 499n, retried: 0 },
      { orders: 1, tokens: 500n, retried: 1 },
    ])
      expect(
        await approve({ kind: 'batch', batch: batch.ref }, { who: 'ben', hash, shown }, audit('approved')),
      ).toBe('changed');
    // The store now holds another batch under that number.
    await set(batch, 'confirmed', 'f'.repeat(64));
    expect(await approveAs(batch, 'ben')).toBe('changed');
  });

  test.each([
    'baseUrl',
    'currency',
    'keyLifetimeMs',
    'source',
    'columns',
    'again',
    'inOrder',
    'warnings',
  ] as const)('its hash covers %s', async (field) => {
    const batch = await preparedBy(await limited(), 'ada', [{ tokens: 500 }]);
    const before = await readBatch(batch.ref);
    const other = { ...JSON.parse((await stored(batch, 'manifest')) ?? ''), [field]: OTHER[field] };
    await set(batch, 'manifest', JSON.stringify(other));
    const now = await readBatch(batch.ref);
    expect(now?.confirmed).not.toBe(before?.confirmed);
    expect(await approveAs(batch, 'ben')).toBe('changed');
  });

  test.each([
    ['preparer', 'cleo'],
    ['startAt', '5000000000000'],
    ['startZone', 'Asia/Tokyo'],
  ])('its hash covers its %s', async (field, value) => {
    const start = { at: Date.now() + HOUR, zone: 'UTC' };
    const batch = await preparedBy(await limited(), 'ada', [{ tokens: 500 }], { start });
    await set(batch, field, value);
    expect(await approveAs(batch, 'ben')).toBe('changed');
  });

  test('an approval ends with its lifetime and with its approver’s token', async () => {
    const batch = await preparedBy(await limited(), 'ada', [{ tokens: 500 }]);
    await approveAs(batch, 'ben');
    expect(await stored(batch, 'state')).toBe('planned');
    expect((await withdrawApprovals(batch.ledger.scripts, 'BEN')).batches).toContain(batch.ref.id);
    expect(await stored(batch, 'state')).toBe('waiting');
    expect(await fed(batch)).toEqual([]);
    expect(await approveAs(batch, 'ben')).toBe('approved');
    const request = JSON.parse((await stored(batch, 'approval')) ?? '');
    const ended = { ...request, approved: { ...request.approved, ends: Date.now() - 1 } };
    await set(batch, 'approval', JSON.stringify(ended));
    expect(await fed(batch)).toEqual([]);
    expect(await gateOf(batch)).toMatchObject({ closed: 'approval' });
    expect(await approveAs(batch, 'cleo')).toBe('approved');
    expect(await fed(batch)).toEqual([1]);
  });

  test('a schedule’s batch begins if two people approved its text and members, and otherwise waits for one more', async () => {
    const byTwo = { who: 'ben', at: 1, asked: 'ada', audience: 'these' };
    for (const [approved, begins] of [
      [byTwo, [1]],
      [{ ...byTwo, audience: 'others' }, []],
      [{ ...byTwo, asked: 'Ben' }, []],
      [{ who: 'ada', at: 1, asked: null, audience: null }, []],
    ] as const) {
      const ledger = await limited();
      const entry = JSON.stringify({ hash: 'text', approved });
      await ledger.scripts.redis.hset(`${ledger.keyPrefix}:rules:schedules`, 'daily', entry);
      const schedule = {
        rule: 'daily',
        hash: 'text',
        audience: 'these',
        preparer: 'ada',
        last: '{"at":5}',
        missed: null,
        only: true,
      };
      const run = { account: 'daily 1', limit: null, number: null, id: 'r', record: '{}', schedule };
      const prepared = { who: 'ada', limits: OVER_100 };
      const batch = await sealed(ledger, [{ tokens: 1 }], { run, prepared });
      expect([approved, await fed(batch)]).toEqual([approved, begins]);
      if (begins.length > 0) continue;
      expect(await approveAs(batch, 'ada')).toBe('same-person');
      expect(await approveAs(batch, 'cleo')).toBe('approved');
      expect(await fed(batch)).toEqual([1]);
    }
  });

  test('amounts paid alone count for 24 hours around the time at which the batch begins', async () => {
    const ledger = await limited();
    const start = (days: number) => ({ start: { at: Date.now() + days * DAY, zone: 'UTC' } });
    const closed = async (batch: TestBatch) => (await gateOf(batch)).closed;
    expect(await closed(await preparedBy(ledger, 'ada', [{ tokens: 60 }], start(2)))).toBe('start-time');
    expect(await closed(await preparedBy(ledger, 'ada', [{ tokens: 60 }], start(2.5)))).toBe('approval');
    expect(await closed(await preparedBy(ledger, 'ada', [{ tokens: 60 }], start(1.5)))).toBe('approval');
    expect(await closed(await preparedBy(ledger, 'ada', [{ tokens: 60 }], start(4)))).toBe('start-time');
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 60 }]))).toEqual([1]);
  });

  test('a batch prepared long ago or resumed on another day is checked again', async () => {
    const ledger = await limited();
    const paused = await preparedBy(ledger, 'ada', [{ tokens: 30 }, { tokens: 30 }]);
    expect(await feed(ledger, paused.no, 1, '')).toEqual([1]);
    await sendAs(paused, 1, 'P');
    const later = await preparedBy(ledger, 'ada', [{ tokens: 40 }]);
    await pauseBatch(paused.ref, WHY, audit('paused'));
    await pauseBatch(later.ref, WHY, audit('paused'));
    await aDayPasses(ledger, 'ada');
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 90 }]))).toEqual([1]);
    for (const batch of [paused, later]) {
      await resume(batch);
      expect(await fed(batch)).toEqual([]);
      expect((await readBatch(batch.ref))?.reason?.code).toBe('ALM_BATCH_APPROVAL');
      expect(await approveAs(batch, 'ben')).toBe('approved');
    }
    expect([await fed(paused), await fed(later)]).toEqual([[2], [1]]);
    expect(await tieUp(ledger)).toEqual([]);
  });
});

describe('every sender, at every moment', () => {
  const strictly = (ledger: RealmLedger) => limitedTo(ledger, OVER_100);
  const answers = async (batch: TestBatch, ...indexes: readonly number[]) => {
    const found: string[] = [];
    for (const index of indexes) {
      const begun = await begin(batch, index, { nonce: `n${Math.random()}` });
      found.push('refusal' in begun ? begun.refusal : 'go');
    }
    return found;
  };
  const strict = (batch: TestBatch): TestBatch => ({ ...batch, ledger: strictly(batch.ledger) });

  test('a sender with limits does not send what a sender without limits has begun', async () => {
    const batch = await preparedBy(await bench.ledger(), 'ada', [{ tokens: 60 }, { tokens: 60 }]);
    expect(await fed(batch)).toEqual([1, 2]);
    expect(await answers(strict(batch), 1, 2)).toEqual(['approval', 'not-due']);
    expect((await readBatch(batch.ref))?.reason?.code).toBe('ALM_BATCH_APPROVAL');
    expect(await approveAs(batch, 'ben')).toBe('approved');
    expect(await fed(strict(batch))).toEqual([1, 2]);
    expect(await answers(strict(batch), 1, 2)).toEqual(['go', 'go']);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('a retry by a process without limits is checked by its sender', async () => {
    const ledger = await limited();
    const found: string[] = [];
    for (let day = 0; day < 3; day++) {
      const batch = await preparedBy(ledger, 'ada', [{ tokens: 100 }]);
      await fed(batch);
      await sendAs(batch, 1, 'R');
      await aDayPasses(ledger, 'ada');
      retried.push(batch);
    }
    for (const batch of retried) {
      const by = { who: 'ada', why: null, at: 1, nonce: `r${batch.no}`, limits: NONE };
      expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toBe('ok');
      found.push(...(await answers(batch, 1)));
    }
    expect(found.filter((one) => one === 'go')).toHaveLength(1);
    expect(await tieUp(ledger)).toEqual([]);
  });
  const retried: TestBatch[] = [];

  test('orders dispatched before a pause or in quiet hours are checked when they are sent', async () => {
    const ledger = await limited();
    const old = await preparedBy(ledger, 'ada', [{ tokens: 50 }, { tokens: 50 }]);
    expect(await fed(old)).toEqual([1, 2]);
    await aDayPasses(ledger, 'ada');
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 100 }]))).toEqual([1]);
    expect(await answers(old, 1, 2)).toEqual(['approval', 'not-due']);
    expect(await claimFor(old, 1)).toHaveProperty('refusal');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a batch set for a later week does not remove today’s payments from the count', async () => {
    const ledger = await limited();
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 100 }]))).toEqual([1]);
    const start = { at: Date.now() + 9 * DAY, zone: 'UTC' };
    await preparedBy(ledger, 'ada', [{ tokens: 1 }], { start });
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 1 }]))).toEqual([]);
  });

  test('dead letters of the first part need an approval of their own when the rest is approved', async () => {
    const ledger = await limited();
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 45 }, { tokens: 5 }]);
    expect(await feed(ledger, batch.no, 1, '')).toEqual([1]);
    await sendAs(batch, 1, 'R');
    await aDayPasses(ledger, 'ada');
    const other = await preparedBy(ledger, 'ada', [{ tokens: 100 }]);
    expect(await fed(other)).toEqual([1]);
    await sendAs(other, 1, 'P');
    expect(await fed(batch)).toEqual([]);
    expect(await approveAs(batch, 'ben')).toBe('approved');
    expect(await fed(batch)).toEqual([2]);
    const by = { who: 'ada', why: null, at: 1, nonce: 'x', limits: OVER_100 };
    expect(await retryOrder(batch.ref, 1, batch.row(1), by)).not.toBe('ok');
    // It was retried where no approval is required; its sender requires one.
    expect(await retryOrder(batch.ref, 1, batch.row(1), { ...by, limits: NONE })).toBe('ok');
    expect(await answers(batch, 1)).toEqual(['approval']);
  });

  test('a batch that a person starts before its set time can still be approved', async () => {
    const ledger = await limited();
    const start = { at: Date.now() + 3 * DAY, zone: 'UTC' };
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 80 }], { start });
    await fed(await preparedBy(ledger, 'ada', [{ tokens: 81 }]));
    expect(await resumeNow(batch)).toMatchObject({ done: true });
    expect(await fed(batch)).toEqual([]);
    expect(await approveAs(batch, 'ben')).toBe('approved');
    expect(await fed(batch)).toEqual([1]);
  });
});

const OTHER = {
  baseUrl: 'http://127.0.0.1:2',
  currency: 'gold',
  keyLifetimeMs: 1,
  source: 'other.csv',
  columns: 'member from "who"',
  again: 'meant',
  inOrder: true,
  warnings: { count: 1, first: ['line 2: x'] },
};

describe('a retry of dead letters', () => {
  /** Three dead letters of 50, 70 and 9 tokens, in a batch that no second person has seen. */
  async function dead() {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 50 }, { tokens: 70 }, { tokens: 9 }], {
      id: `d-${++made}`,
    });
    await feedAll(batch);
    for (const index of [1, 2, 3]) await sendAs(batch, index, 'R');
    return batch;
  }
  const ask = async (
    { ref }: TestBatch,
    who: string,
    indexes: readonly number[],
    limits: Requirement = EVERYTHING,
  ) => {
    const { letters, tokens, hash } = await retriesOf(ref, indexes);
    const by = { who, hash, why: null, limits, tokens };
    const { answer, lacking } = await requestRetry(ref, {
      ...by,
      indexes: letters.map(({ index }) => index),
    });
    return answer === 'lacking' ? lacking : answer;
  };
  const shown = async ({ ref }: TestBatch) => (await readBatch(ref))?.retry?.hash ?? '';
  const say = async (batch: TestBatch, who: string, hash?: string) =>
    approve(
      { kind: 'retry', batch: batch.ref },
      { who, hash: hash ?? (await shown(batch)) },
      audit('approved'),
    );
  const retry = async (batch: TestBatch, index: number, limits: Requirement = EVERYTHING) => {
    const by = { who: 'ada', why: null, at: 1, nonce: String(Math.random()), limits };
    return (await retryOrder(batch.ref, index, batch.row(index), by)) === 'ok';
  };

  test('an approved retry covers exactly the requested dead letters, each once', async () => {
    const batch = await dead();
    expect(await retry(batch, 1)).toBe(false);
    expect(await ask(batch, 'ada', [1])).toBe('asked');
    expect((await readBatch(batch.ref))?.retry).toMatchObject({ who: 'ada', orders: 1, tokens: '50' });
    expect(await ask(batch, 'ada', [1])).toBe('same');
    expect(await retry(batch, 1)).toBe(false);
    expect(await say(batch, 'Ada')).toBe('same-person');
    expect(await say(batch, 'ben', '0'.repeat(64))).toBe('changed');
    expect(await say(batch, 'ben')).toBe('approved');
    expect(await say(batch, 'ben')).toBe('not-needed');
    expect(await retry(batch, 2)).toBe(false);
    expect(await retry(batch, 1)).toBe(true);
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    expect(await retry(batch, 1)).toBe(false);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('a requested retry reports which of its dead letters lack an approval', async () => {
    const batch = await dead();
    await ask(batch, 'ada', [1]);
    await say(batch, 'ben');
    expect(await ask(batch, 'ada', [1, 2, 3])).toEqual([2, 3]);
    expect(await ask(batch, 'ada', [1])).toBe('approved');
    expect(await ask(batch, 'ada', [1], NONE)).toBe('free');
  });

  test('a dead letter that moved since the request cannot be approved', async () => {
    const batch = await dead();
    await ask(batch, 'ada', [1, 2]);
    // It was retried where no approval was required, and failed again.
    await retry(batch, 2, NONE);
    await feedAll(batch);
    await sendAs(batch, 2, 'R');
    expect(await say(batch, 'ben')).toBe('changed');
    expect(await retry(batch, 1)).toBe(false);
    // A new request covers its current state.
    expect(await ask(batch, 'cleo', [1, 2])).toBe('asked');
    expect(await say(batch, 'ada')).toBe('approved');
    // A move after the approval requires another one.
    await retry(batch, 2);
    await feedAll(batch);
    await sendAs(batch, 2, 'R');
    expect([await retry(batch, 1), await retry(batch, 2)]).toEqual([true, false]);
  });

  test('an approval of a retry ends with its lifetime and with any move of the dead letter', async () => {
    const batch = await dead();
    await ask(batch, 'ada', [1, 2]);
    await say(batch, 'ben');
    const { redis } = batch.ledger.scripts;
    const B = `${batch.ledger.keyPrefix}:b:${batch.no}`;
    const [, ...rest] = ((await redis.hget(`${B}:retries`, '1')) ?? '').split(' ');
    await redis.hset(`${B}:retries`, '1', [Date.now() - 1, ...rest].join(' '));
    const record = (await redis.hget(`${B}:o:0`, '2')) ?? '';
    await redis.hset(
      `${B}:o:0`,
      '2',
      record.replace(/^(R\|[^|]*\|)(\d+)/, (_, head, attempts) => `${head}${Number(attempts) + 1}`),
    );
    expect([await retry(batch, 1), await retry(batch, 2)]).toEqual([false, false]);
  });

  test('one person may retry alone up to the limit for paying alone', async () => {
    const batch = await dead();
    expect(await ask(batch, 'ada', [1], OVER_100)).toBe('alone');
    expect(await ask(batch, 'ben', [2], OVER_100)).toBe('alone');
    expect([await retry(batch, 1, OVER_100), await retry(batch, 3, OVER_100)]).toEqual([true, false]);
  });

  test('an approval ends with the token of the person who requested or gave it', async () => {
    for (const who of ['ada', 'ben']) {
      const batch = await dead();
      await ask(batch, 'ada', [1]);
      if (who === 'ben') await say(batch, 'ben');
      expect((await withdrawApprovals(batch.ledger.scripts, who)).batches).toContain(batch.ref.id);
      expect((await readBatch(batch.ref))?.retry).toBeNull();
      expect(await retry(batch, 1)).toBe(false);
      expect(await tieUp(batch.ledger)).toEqual([]);
    }
  });

  test('the dead letters of an approved batch need no further approval', async () => {
    const batch = await preparedBy(await limited(), 'ada', [{ tokens: 500 }]);
    await approveAs(batch, 'ben');
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    expect(await ask(batch, 'ada', [1])).toBe('approved');
    expect(await retry(batch, 1)).toBe(true);
  });
});

describe('a batch with a set time', () => {
  const at = (startAt: number) => ({ who: 'ada', start: { at: startAt, zone: 'UTC' } });

  test('begins at that time or within the hour after it; later it asks a person', async () => {
    const ledger = await bench.ledger();
    const early = await sealed(ledger, [{}], { id: 'early', prepared: at(Date.now() + HOUR) });
    expect(await fed(early)).toEqual([]);
    expect(await gateOf(early)).toMatchObject({ closed: 'start-time' });
    const due = await sealed(ledger, [{}], { id: 'due', prepared: at(Date.now() - HOUR / 2) });
    expect(await fed(due)).toEqual([1]);
    const missed = await sealed(ledger, [{}], { id: 'missed', prepared: at(Date.now() - 2 * HOUR) });
    expect(await fed(missed)).toEqual([]);
    expect((await readBatch(missed.ref))?.reason).toMatchObject({ code: 'ALM_BATCH_START_MISSED' });
    for (const batch of [early, missed]) {
      for (const by of [null, audit('resumed')])
        expect(await resumeBatch(batch.ref, by, { owner: '' })).toMatchObject({ done: false });
      expect(await fed(batch)).toEqual([]);
      expect(await resumeNow(batch)).toEqual({ done: true, state: 'running' });
      expect(await fed(batch)).toEqual([1]);
    }
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('paused before its time and resumed, it still waits for that time', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}], { prepared: at(Date.now() + HOUR) });
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await resume(batch)).toEqual({ done: true, state: 'planned' });
    expect(await fed(batch)).toEqual([]);
    await pauseBatch(batch.ref, WHY, audit('paused again'));
    expect(await resumeNow(batch)).toEqual({ done: true, state: 'running' });
    expect(await fed(batch)).toEqual([1]);
  });

  test('begins only with its approval and not before the approved time', async () => {
    const ledger = await limited();
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 500 }], {
      start: { at: Date.now() + HOUR, zone: 'UTC' },
    });
    expect(await resume(batch)).toEqual({ done: false, state: 'approval' });
    expect(await approveAs(batch, 'ben')).toBe('approved');
    expect(await fed(batch)).toEqual([]);
    expect(await resume(batch)).toEqual({ done: false, state: 'start-time' });
    expect(await resumeNow(batch)).toEqual({ done: false, state: 'start-time' });
    const late = await preparedBy(ledger, 'ada', [{ tokens: 500 }], {
      start: { at: Date.now() - 2 * HOUR, zone: 'UTC' },
    });
    expect(await approveAs(late, 'ben')).toBe('approved');
    expect(await fed(late)).toEqual([1]);
  });
});
