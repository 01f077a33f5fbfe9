import { describe, expect, test } from 'vitest';
import type { Person } from '../../../src/core/people.js';
import {
  approveBatch,
  changeRequirement,
  keepRequirement,
  readGate,
  readRequirement,
  readWish,
  type Start,
  withdrawApprovals,
} from '../../../src/ledger/moves/gate.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { feed } from '../../support/ledger/feed-one.js';
import { type Line, ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs, WHY } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** Nothing begins that may not: neither without a second person where one is required, nor before its time. */
const bench = ledgersOnRedis();

const approver = (name: string): Person => ({ name, roles: ['approver'] });
const HOUR = 3_600_000;
const OVER_100 = { overTokens: 100, overRows: null };

function preparedBy(ledger: RealmLedger, who: string, lines: readonly Line[], more: { start?: Start } = {}) {
  return sealed(ledger, lines, { id: `b-${++made}`, prepared: { who, requirement: OVER_100, ...more } });
}
let made = 0;

async function approveAs(batch: TestBatch, who: string): Promise<string> {
  const seal = (await readBatch(batch.ref))?.sealHash ?? '';
  return approveBatch(batch.ref, { who, seal }, { go: audit('approved'), takenUp: audit('took it up') });
}
const fed = (batch: TestBatch) => feed(batch.ledger, batch.no, 100, batch.owner);
const resume = (batch: TestBatch) => resumeBatch(batch.ref, audit('resumed'), { owner: '' });
const resumeNow = (batch: TestBatch) => resumeBatch(batch.ref, audit('begun'), { owner: '', now: true });

describe('a realm that requires a second person', () => {
  test('begins what one person may prepare alone, and nothing beyond before another has said go', async () => {
    const ledger = await bench.ledger();
    const small = await preparedBy(ledger, 'ada', [{ tokens: 60 }]);
    expect(await fed(small)).toEqual([1]);
    const large = await preparedBy(ledger, 'ada', [{ tokens: 41 }]);
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
    expect(await readGate(large.ref)).toMatchObject({ closed: null, preparer: 'ada', go: { who: 'ben' } });
    expect(await approveAs(large, 'cleo')).toBe('not-needed');
    expect(await fed(large)).toEqual([1]);
    expect((await readAudit(large.ref)).map(({ what }) => what)).toContain('approved');
    // What two people have looked at does not count for what one may do alone; another person begins at nothing.
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 40 }]))).toEqual([1]);
    expect(await fed(await preparedBy(ledger, 'ada', [{ tokens: 1 }]))).toEqual([]);
    expect(await fed(await preparedBy(ledger, 'ben', [{ tokens: 100 }]))).toEqual([1]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('takes nothing that nobody known has prepared', async () => {
    const ledger = await bench.ledger();
    await keepRequirement(ledger, OVER_100);
    await expect(sealed(ledger, [{ tokens: 1 }])).rejects.toThrow('nameless');
  });

  test('a batch that was made before, by nobody known, takes two people', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 1 }]);
    await keepRequirement(ledger, OVER_100);
    expect(await fed(batch)).toEqual([]);
    expect(await approveAs(batch, 'ada')).toBe('taken-up');
    expect(await approveAs(batch, 'ada')).toBe('same-person');
    expect(await fed(batch)).toEqual([]);
    expect(await approveAs(batch, 'ben')).toBe('approved');
    expect(await fed(batch)).toEqual([1]);
  });

  test('paused and resumed, it waits as before; a go is for exactly what was shown', async () => {
    const ledger = await bench.ledger();
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 500 }]);
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await resume(batch)).toEqual({ done: true, state: 'planned' });
    expect(await fed(batch)).toEqual([]);
    const other = { go: audit('approved'), takenUp: audit('x') };
    expect(await approveBatch(batch.ref, { who: 'ben', seal: '0'.repeat(40) }, other)).toBe('changed');
  });

  test('a go ends: when its giver’s token does, and when the store was found to have forgotten', async () => {
    const ledger = await bench.ledger();
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 500 }]);
    await approveAs(batch, 'ben');
    expect(await withdrawApprovals(ledger.scripts, 'BEN')).toEqual([batch.ref.id]);
    expect(await fed(batch)).toEqual([]);
    await approveAs(batch, 'ben');
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'forgotAt', Date.now());
    expect(await fed(batch)).toEqual([]);
    // Nor may anybody prepare alone on such a day: what they did before may be forgotten.
    expect(await fed(await preparedBy(ledger, 'cleo', [{ tokens: 1 }]))).toEqual([]);
  });

  test('a go ends with its time, and when it was used', async () => {
    const ledger = await bench.ledger();
    const { redis } = ledger.scripts;
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 500 }, { tokens: 500 }]);
    const key = `${ledger.keyPrefix}:b:${batch.no}`;
    const go = (ends: number) => JSON.stringify({ who: 'ben', at: 1, ends, forgotAt: '' });
    await redis.hset(key, 'approval', go(Date.now() - 1));
    expect(await fed(batch)).toEqual([]);
    await redis.hset(key, 'approval', go(Date.now() + HOUR));
    const before = await redis.hgetall(key);
    expect(await fed(batch)).toEqual([1, 2]);
    expect(await redis.hexists(key, 'approval')).toBe(0);
    // Put back to before it began, the store has the go again; whoever finds that out uses no go twice.
    await redis.del(key);
    await redis.hset(key, before);
    await redis.hset(ledger.keyPrefix, 'forgotAt', Date.now());
    expect(await fed(batch)).toEqual([]);
    expect(await readGate(batch.ref)).toMatchObject({ closed: 'approval', go: null });
  });

  test('a schedule’s batch begins by the go of two people for its text and members, and by no other', async () => {
    const byTwo = { who: 'ben', at: 1, asked: 'ada', audience: 'these' };
    for (const [approved, begins] of [
      [byTwo, [1]],
      [{ ...byTwo, audience: 'others' }, []],
      [{ ...byTwo, asked: 'Ben' }, []],
      [{ who: 'ben', at: 1, asked: null, audience: null }, []],
    ] as const) {
      const ledger = await bench.ledger();
      await keepRequirement(ledger, OVER_100);
      const entry = JSON.stringify({ hash: 'text', approved });
      await ledger.scripts.redis.hset(`${ledger.keyPrefix}:rules:schedules`, 'daily', entry);
      const schedule = {
        rule: 'daily',
        hash: 'text',
        audience: 'these',
        last: '{"at":5}',
        missed: null,
        only: true,
      };
      const run = { account: 'daily 1', limit: null, number: null, id: 'r', record: '{}', schedule };
      const batch = await sealed(ledger, [{ tokens: 1 }], { run });
      expect([approved, await fed(batch)]).toEqual([approved, begins]);
    }
  });

  test('dead letters of what nobody looked at are not retried before somebody has', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7 }]);
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    await keepRequirement(ledger, { overTokens: 0, overRows: null });
    const retry = () => {
      const by = { who: 'ada', why: null, at: 1, nonce: String(Math.random()) };
      return retryOrder(batch.ref, 1, batch.row(1), by);
    };
    expect(await retry()).toEqual({ why: expect.stringContaining('second person') });
    expect(await approveAs(batch, 'ada')).toBe('taken-up');
    expect(await approveAs(batch, 'ben')).toBe('approved');
    expect(await retry()).toBe('ok');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('what was within the limit is not, once the limit is lower', async () => {
    const ledger = await bench.ledger();
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 60 }]);
    await keepRequirement(ledger, { overTokens: 59, overRows: null });
    expect(await fed(batch)).toEqual([]);
    await keepRequirement(ledger, { overTokens: 1000, overRows: 3 });
    expect(await readRequirement(ledger)).toEqual({ overTokens: 59, overRows: 3 });
  });

  test('what one may prepare alone counts for a day: neither set times nor pauses nor retries add days up', async () => {
    const ledger = await bench.ledger();
    const DAY = 24 * 3_600_000;
    const far = await preparedBy(ledger, 'ada', [{ tokens: 60 }], {
      start: { at: Date.now() + 2 * DAY, zone: 'UTC' },
    });
    expect(await readGate(far.ref)).toMatchObject({ closed: 'approval' });
    const old = await preparedBy(ledger, 'ben', [{ tokens: 60 }, { tokens: 1 }]);
    await feedAll(old);
    await sendAs(old, 1, 'R');
    const key = `${ledger.keyPrefix}:b:${old.no}`;
    await ledger.scripts.redis.hset(key, 'cleared', `alone 2 61 ${Date.now() - DAY}`);
    const by = { who: 'ben', why: null, at: 1, nonce: 'x' };
    expect(await retryOrder(old.ref, 1, old.row(1), by)).toEqual({
      why: expect.stringContaining('second person'),
    });
    expect(await approveAs(old, 'ada')).toBe('approved');
    expect(await retryOrder(old.ref, 1, old.row(1), by)).toBe('ok');
  });

  test('requires less only where two people want the same', async () => {
    const ledger = await bench.ledger();
    await keepRequirement(ledger, OVER_100);
    const none = { overTokens: null, overRows: null };
    expect(await changeRequirement(ledger, none, approver('ada'))).toMatchObject({
      answer: 'asked',
      now: OVER_100,
    });
    expect(await changeRequirement(ledger, none, approver('ADA'))).toMatchObject({ answer: 'same-person' });
    const other = { overTokens: 500, overRows: null };
    expect(await changeRequirement(ledger, other, approver('ben'))).toMatchObject({
      answer: 'asked',
      now: OVER_100,
    });
    const cleo: Person = { name: 'cleo', roles: ['operator'] };
    expect(await changeRequirement(ledger, none, cleo)).toMatchObject({
      answer: 'asked',
      now: OVER_100,
    });
    const olga: Person = { name: 'olga', roles: ['operator', 'admin'] };
    expect(await changeRequirement(ledger, none, olga)).toMatchObject({
      answer: 'not-approver',
      now: OVER_100,
    });
    // Two who may not approve change nothing; the later one's word stands, for an approver to agree to.
    expect(await readWish(ledger)).toMatchObject({ who: 'olga', ...none });
    expect(await changeRequirement(ledger, none, approver('ada'))).toMatchObject({
      answer: 'changed',
      now: none,
    });
    expect(await readWish(ledger)).toBeNull();
    expect(await fed(await sealed(ledger, [{ tokens: 1_000 }]))).toEqual([1]);
  });
});

describe('a batch with a set time', () => {
  const at = (startAt: number) => ({ who: 'ada', start: { at: startAt, zone: 'UTC' } });

  test('begins then, or within the hour after; later it asks', async () => {
    const ledger = await bench.ledger();
    const early = await sealed(ledger, [{}], { id: 'early', prepared: at(Date.now() + HOUR) });
    expect(await fed(early)).toEqual([]);
    expect(await readGate(early.ref)).toMatchObject({ closed: 'start-time' });
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

  test('paused before its time and resumed, it still waits for it', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}], { prepared: at(Date.now() + HOUR) });
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await resume(batch)).toEqual({ done: true, state: 'planned' });
    expect(await fed(batch)).toEqual([]);
    await pauseBatch(batch.ref, WHY, audit('paused again'));
    expect(await resumeNow(batch)).toEqual({ done: true, state: 'running' });
    expect(await fed(batch)).toEqual([1]);
  });

  test('begins neither without its second person nor by one alone before its time', async () => {
    const ledger = await bench.ledger();
    const batch = await preparedBy(ledger, 'ada', [{ tokens: 500 }], {
      start: { at: Date.now() + HOUR, zone: 'UTC' },
    });
    expect(await resume(batch)).toEqual({ done: false, state: 'approval' });
    expect(await approveAs(batch, 'ben')).toBe('approved');
    expect(await fed(batch)).toEqual([]);
    // The go was for that time.
    expect(await resume(batch)).toEqual({ done: false, state: 'start-time' });
    expect(await resumeNow(batch)).toEqual({ done: false, state: 'start-time' });
    const late = await preparedBy(ledger, 'ada', [{ tokens: 500 }], {
      start: { at: Date.now() - 2 * HOUR, zone: 'UTC' },
    });
    expect(await approveAs(late, 'ben')).toBe('approved');
    expect(await fed(late)).toEqual([1]);
  });
});
