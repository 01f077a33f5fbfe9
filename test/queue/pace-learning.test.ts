import { describe, expect, test } from 'vitest';
import { readPaceState } from '../../src/ledger/pace/pace.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { type Answer, Pace } from '../../src/queue/pace.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();

async function paceOf(requests: number | null, windowMs: number) {
  const ledger = await bench.ledger();
  const notices: string[] = [];
  const rate = requests === null ? null : { requests, windowMs };
  const pace = new Pace(ledger, testProfile({ rate }), (notice) => notices.push(notice));
  return { ledger, pace, notices, rate };
}

const plain: Answer = { status: 200, retryAfterMs: null, rate: null };

function headers(limit: number, remaining: number, windowMs: number): Answer {
  return { status: 200, retryAfterMs: null, rate: { limit, remaining, windowMs, resetMs: null } };
}

async function sendOne(pace: Pace, answer: Answer): Promise<number> {
  const slot = await pace.take();
  const at = performance.now();
  slot?.answered(answer);
  return at;
}

async function learnt(ledger: RealmLedger, rate: { requests: number; windowMs: number } | null) {
  return readPaceState(ledger, rate);
}

describe('the pace learns from answers', () => {
  test('without a configured rate every slot is answered, whether or not the answer brings news', async () => {
    const { ledger, pace } = await paceOf(null, 1_000);
    await sendOne(pace, headers(100, 99, 100));
    await until('the limit to be kept to', async () => (await learnt(ledger, null)).learnt !== null);
    for (let i = 0; i < 8; i++) await sendOne(pace, i % 2 === 0 ? headers(100, 90, 100) : plain);
    await until(
      'all slots to be answered',
      async () => (await ledger.scripts.redis.hlen(`${ledger.keyPrefix}:pace:o`)) === 0,
    );
    expect((await learnt(ledger, null)).used).toBeGreaterThan(0);
  });

  test('a lower limit in the headers is kept by every process, shown, and lifted when the realm lifts it', async () => {
    const { ledger, pace, notices, rate } = await paceOf(100, 1_000);
    await sendOne(pace, headers(10, 9, 1_000));
    await until('the limit to be learnt', async () => (await learnt(ledger, rate)).learnt !== null);
    expect((await learnt(ledger, rate)).learnt).toMatchObject({
      requests: 10,
      windowMs: 1_000,
      by: 'headers',
    });
    await until('the notice', () => notices.length === 1);
    expect(notices[0]).toContain('allows 10/s instead of 100/s');

    const other = new Pace(
      openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}), ledger.realm),
      testProfile({ rate }),
    );
    const times: number[] = [];
    for (let i = 0; i < 4; i++) times.push(await sendOne(other, plain));
    // Ten a second are a tenth of a second apart; at the configured rate the gap would be a hundredth.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150);

    await sendOne(pace, headers(100, 90, 1_000));
    await until('the configured limit to be back', async () => (await learnt(ledger, rate)).learnt === null);
    expect(notices.at(-1)).toContain('configured rate again');
  });

  test('a limit equal to the configured one, or higher, changes nothing', async () => {
    const { ledger, pace, notices, rate } = await paceOf(20, 200);
    // Headers know only whole seconds: 20 in 200 ms appear as 20 in 1 s.
    await sendOne(pace, headers(20, 19, 1_000));
    await sendOne(pace, headers(500, 499, 1_000));
    await sendOne(pace, { ...plain, retryAfterMs: 1 });
    await until('the last note to arrive', async () => {
      const hold = await ledger.scripts.redis.hget(`${ledger.keyPrefix}:pace`, 'hold');
      return hold !== null;
    });
    expect((await learnt(ledger, rate)).learnt).toBeNull();
    expect(notices).toEqual([]);
  });

  test('another sender on the same realm is noticed, given room, and forgotten when it leaves', async () => {
    const { ledger, pace, notices, rate } = await paceOf(40, 400);
    let sent = 0;
    // The realm counts our requests and, at first, twenty of another sender.
    const counting = (others: number) => headers(40, Math.max(0, 40 - others - Math.min(sent, 40)), 400);
    await until('the other to be noticed', async () => {
      sent += 1;
      await sendOne(pace, counting(20));
      return (await learnt(ledger, rate)).others >= 4;
    });
    await until('the notice', () => notices.some((notice) => notice.includes('Another program')));
    await until('the other to be forgotten', async () => {
      await sendOne(pace, headers(40, 39, 400));
      return (await learnt(ledger, rate)).others === 0;
    });
    await until('the second notice', () => notices.some((notice) => notice.includes('No other program')));
  });

  test('requests are not attributed to another sender if the limit’s window is unknown', async () => {
    const { ledger, pace, notices, rate } = await paceOf(40, 400);
    for (let sent = 1; sent <= 60; sent++)
      await sendOne(pace, {
        ...plain,
        rate: { limit: 36_000, remaining: 30_000 - sent, windowMs: null, resetMs: null },
      });
    await until('the answers to be told', async () => (await learnt(ledger, rate)).learnt === null);
    expect((await learnt(ledger, rate)).others).toBe(0);
    expect(notices).toEqual([]);
  });

  test.each(['the process that heard of it', 'one that comes after it'])(
    'a realm without a configured limit that turns out to have one is paced by it: %s',
    async (who) => {
      const { ledger, pace } = await paceOf(null, 0);
      await sendOne(pace, headers(10, 9, 500));
      await until('the limit to be learnt', async () => (await learnt(ledger, null)).learnt !== null);
      const sender = who === 'one that comes after it' ? new Pace(ledger, testProfile({ rate: null })) : pace;
      const times: number[] = [];
      for (let i = 0; i < 6; i++) times.push(await sendOne(sender, plain));
      expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150);
    },
  );

  test('several waiting orders get their slots with one call, never more than the window allows', async () => {
    const { pace } = await paceOf(500, 1_000);
    const times: number[] = [];
    await Promise.all(Array.from({ length: 200 }, async () => times.push(await sendOne(pace, plain))));
    const sorted = times.sort((a, b) => a - b);
    const took = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
    // The first may catch up with an eighth of a window at once.
    expect(took).toBeGreaterThan(200);
  });
});
