import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Sign } from '../../src/core/presence.js';
import { CERTAINTIES } from '../../src/core/profile.js';
import type { BatchStanding, Group, OpenState, RealmStanding } from '../../src/core/waiting.js';
import { waitingOf, whatWaits } from '../../src/core/what-waits.js';

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0);
const group = (state: OpenState, orders: number, indexes: readonly number[] | null = null): Group => ({
  state,
  orders,
  tokens: BigInt(orders * 5),
  indexes,
});
const sign = (changes: Partial<Sign> = {}): Sign => ({
  session: 'aaaaaaaaaaaa',
  kind: 'worker',
  pid: 7,
  machine: 'barn',
  life: 'alive',
  seenMs: NOW - 1_000,
  beats: true,
  ...changes,
});
const realm = (changes: Partial<RealmStanding> = {}): RealmStanding => ({
  name: 'meadow',
  nowMs: NOW,
  signs: [sign()],
  leftMs: 0,
  haltedMs: null,
  waitsForPersonMs: null,
  recovering: false,
  breaker: null,
  hold: null,
  quiet: null,
  ...changes,
});
const batch = (changes: Partial<BatchStanding> = {}): BatchStanding => ({
  batch: 'b-1',
  whyNot: [],
  reason: null,
  owner: '',
  certainty: 'idempotent',
  inOrder: false,
  createdMs: NOW - 600_000,
  startedMs: NOW - 500_000,
  stoodMs: 0,
  start: null,
  planned: group('planned', 10),
  unknown: { ...group('unknown', 0), sinceMs: NOW - 9_000, untilMs: NOW + 9_000 },
  doubt: { ...group('doubt', 0), sinceMs: NOW - 90_000 },
  sending: [],
  retry: { ...group('planned', 0, []), sinceMs: NOW - 4_000, untilMs: NOW + 20_000 },
  held: { ...group('planned', 0, []), holder: 'order b-1-3', sinceMs: NOW - 4_000, untilMs: NOW + 60_000 },
  ...changes,
});
const told = (one: BatchStanding, around = realm()) =>
  whatWaits(one, around)
    .map(waitingOf)
    .map(({ why, orders, tokens, since, until, next }) => ({
      why,
      orders,
      tokens,
      since: Date.parse(since) - NOW,
      until: until === null ? null : Date.parse(until) - NOW,
      next,
    }));
const unknown = { ...group('unknown', 3), sinceMs: NOW - 9_000, untilMs: NOW + 9_000 };
const sending = (orders: number, session = 'aaaaaaaaaaaa') => ({
  ...group('sending', orders, []),
  session,
  sinceMs: NOW - 2_000,
});

describe('moving orders are not reported', () => {
  test('planned orders that a living worker is fed with, and what living sessions are sending', () => {
    expect(told(batch({ sending: [sending(4)] }))).toEqual([]);
    const run = batch({ owner: 'cccccccccccc', sending: [sending(1, 'cccccccccccc')] });
    expect(told(run, realm({ signs: [sign({ session: 'cccccccccccc', kind: 'run' })] }))).toEqual([]);
  });

  test('a session elsewhere counts as living while it is heard, and one that is asked while it never beat', () => {
    const elsewhere = sign({ life: 'elsewhere', seenMs: NOW - 44_000 });
    expect(told(batch({ sending: [sending(4)] }), realm({ signs: [elsewhere] }))).toEqual([]);
    const old = sign({ seenMs: NOW - 900_000, beats: false });
    expect(told(batch({ sending: [sending(4)] }), realm({ signs: [old] }))).toEqual([]);
  });
});

describe('the whole batch stands still', () => {
  const all = { orders: 13, tokens: '65', until: null };

  test('no worker, or a run whose process is gone', () => {
    expect(told(batch({ unknown }), realm({ signs: [], leftMs: NOW - 60_000 }))).toEqual([
      { ...all, why: 'no-worker', since: -60_000, next: 'almoner worker' },
    ]);
    // A run's process works nothing but its own batch.
    expect(told(batch({ unknown }), realm({ signs: [sign({ kind: 'run' })] }))).toMatchObject([
      { why: 'no-worker' },
    ]);
    const dead = sign({ life: 'dead', seenMs: NOW - 70_000 });
    expect(told(batch({ unknown, owner: dead.session }), realm({ signs: [dead] }))).toEqual([
      { ...all, why: 'no-worker', since: -70_000, next: 'almoner resume b-1' },
    ]);
    expect(told(batch({ unknown, owner: 'gone' }), realm())).toMatchObject([{ why: 'no-worker' }]);
  });

  test('an unknown of a cancelled batch that nobody is there to resolve', () => {
    const cancelled = batch({ planned: group('planned', 0), unknown });
    expect(told(cancelled, realm({ signs: [] }))).toMatchObject([{ why: 'no-worker', orders: 3 }]);
    expect(told(cancelled)).toMatchObject([{ why: 'settle-time', orders: 3 }]);
  });

  test('paused, halted or closed: with the command that ends it', () => {
    const reason = { message: 'ada paused it.', next: 'Resume.' };
    expect(told(batch({ unknown, whyNot: ['paused'], reason, stoodMs: NOW - 5_000 }))).toEqual([
      { ...all, why: 'paused', since: -5_000, next: 'almoner resume b-1' },
    ]);
    for (const why of ['halted', 'batch-halted', 'terms'] as const)
      expect(told(batch({ unknown, whyNot: [why], reason }), realm({ haltedMs: NOW - 7_000 }))).toEqual([
        { ...all, why: 'halted', since: -7_000, next: 'almoner resume b-1' },
      ]);
    const disarmed = batch({ unknown, whyNot: ['disarmed'], reason });
    expect(told(disarmed)).toMatchObject([{ ...all, why: 'disarmed', next: 'almoner recover' }]);
    expect(told(batch({ unknown }), realm({ recovering: true }))).toMatchObject([
      { ...all, why: 'disarmed', next: null },
    ]);
  });

  test('a realm that gives no definite answer', () => {
    const breaker = { sinceMs: NOW - 30_000, haltsAtMs: NOW + 870_000 };
    expect(told(batch({ unknown }), realm({ breaker }))).toEqual([
      { ...all, why: 'breaker', since: -30_000, until: 870_000, next: null },
    ]);
  });
});

describe('some orders wait in a batch that goes on', () => {
  test('unknown ones for the settle time or a resend, planned ones for their next attempt', () => {
    const retry = { ...group('planned', 2, [4, 5]), sinceMs: NOW - 4_000, untilMs: NOW + 20_000 };
    expect(told(batch({ unknown, retry }))).toEqual([
      { why: 'settle-time', orders: 3, tokens: '15', since: -9_000, until: 9_000, next: null },
      { why: 'retry', orders: 2, tokens: '10', since: -4_000, until: 20_000, next: null },
    ]);
  });

  test('the realm asked to wait: everything planned that waits for nothing else', () => {
    const retry = { ...group('planned', 2, [4, 5]), sinceMs: NOW - 4_000, untilMs: NOW + 90_000 };
    const hold = { sinceMs: NOW - 1_000, untilMs: NOW + 59_000 };
    expect(told(batch({ retry }), realm({ hold }))).toMatchObject([
      { why: 'retry', orders: 2 },
      { why: 'hold', orders: 8, tokens: '40', since: -1_000, until: 59_000 },
    ]);
  });

  test('strictly one after the other: the rest waits as long as the one before does', () => {
    const one = { ...unknown, orders: 1, tokens: 5n };
    expect(told(batch({ inOrder: true, unknown: one }))).toMatchObject([
      { why: 'settle-time', orders: 1, until: 9_000 },
      { why: 'in-order', orders: 10, until: 9_000 },
    ]);
    const lost = sending(1, 'bbbbbbbbbbbb');
    expect(told(batch({ inOrder: true, sending: [lost] }))).toMatchObject([
      { why: 'missing-session', orders: 1 },
      { why: 'in-order', orders: 10, until: null },
    ]);
  });

  test('for a member that another order holds, whose name is said', () => {
    const held = { ...batch().held, ...group('planned', 4, [1, 2, 3, 4]) };
    expect(told(batch({ held }))).toMatchObject([{ why: 'member-held', orders: 4, until: 60_000 }]);
    expect(whatWaits(batch({ held }), realm())[0]?.message).toContain('order b-1-3');
  });

  test('for an operator', () => {
    const doubt = { ...group('doubt', 2), sinceMs: NOW - 90_000 };
    expect(told(batch({ planned: group('planned', 0), doubt }))).toEqual([
      {
        why: 'doubt',
        orders: 2,
        tokens: '10',
        since: -90_000,
        until: null,
        next: 'almoner doubt list --batch b-1',
      },
    ]);
  });
});

describe('what a session was sending that nobody hears of', () => {
  const lost = (changes: Partial<Sign>) =>
    whatWaits(
      batch({ sending: [sending(4, 'bbbbbbbbbbbb')] }),
      realm({ signs: [sign(), sign({ session: 'bbbbbbbbbbbb', seenMs: NOW - 46_000, ...changes })] }),
    ).map((cause) => ({ ...waitingOf(cause) }));

  test('silent elsewhere: named with kind, process, machine and when it was last seen, and the command', () => {
    const [one, ...more] = lost({ life: 'elsewhere' });
    expect(more).toEqual([]);
    expect(one).toMatchObject({
      why: 'missing-session',
      orders: 4,
      tokens: '20',
      since: new Date(NOW - 46_000).toISOString(),
      next: 'almoner recover',
    });
    expect(one?.message).toContain('Session bbbbbbbbbbbb (worker, pid 7, machine barn)');
    expect(one?.message).toContain(new Date(NOW - 46_000).toISOString());
  });

  test('frozen here, dead and not taken over, or not registered any more', () => {
    expect(lost({})).toMatchObject([{ why: 'frozen-session', next: 'kill -CONT 7' }]);
    expect(lost({ life: 'dead' })).toMatchObject([{ why: 'dead-session', next: 'almoner worker' }]);
    expect(told(batch({ sending: [sending(4, 'nobody')] }))).toMatchObject([
      { why: 'missing-session', orders: 4, next: 'almoner recover' },
    ]);
  });

  test('alive, and for longer than its time-outs: overdue, or with the error by which the store refuses it', () => {
    const late = { ...sending(2), sinceMs: NOW - 90_000, stuck: { error: null } };
    const refused = { ...sending(3), sinceMs: NOW - 80_000, stuck: { error: 'NOPERM no right.' } };
    expect(told(batch({ sending: [sending(4), late, refused] }))).toEqual([
      { why: 'overdue', orders: 2, tokens: '10', since: -90_000, until: null, next: 'almoner recover' },
      { why: 'store-refuses', orders: 3, tokens: '15', since: -80_000, until: null, next: 'almoner recover' },
    ]);
    const [, one] = whatWaits(batch({ sending: [late, refused] }), realm()).map(waitingOf);
    expect(one?.message).toContain('the store refuses to take it: NOPERM no right. The session');
  });

  test('so many refused results that nothing more is sent: the rest waits for the same reason', () => {
    const refused = { ...sending(64), sinceMs: NOW - 80_000, stuck: { error: 'NOPERM' } };
    expect(told(batch({ sending: [refused] }))).toMatchObject([
      { why: 'store-refuses', orders: 64 },
      { why: 'store-refuses', orders: 10, since: -80_000 },
    ]);
  });

  test('all orders of a run with a missing session are reported', () => {
    const silent = sign({ kind: 'run', life: 'elsewhere', seenMs: NOW - 50_000 });
    const run = batch({ owner: silent.session, sending: [sending(4)] });
    expect(told(run, realm({ signs: [silent] }))).toMatchObject([
      { why: 'missing-session', orders: 10 },
      { why: 'missing-session', orders: 4 },
    ]);
  });
});

test('in every situation: no order is reported twice, sums match the reported orders, and a stopped batch is reported whole', () => {
  const some = fc.nat({ max: 9 });
  const anything = fc.record({
    whyNot: fc.constantFrom<BatchStanding['whyNot']>(
      [],
      ['paused'],
      ['batch-halted'],
      ['disarmed'],
      ['terms'],
    ),
    certainty: fc.constantFrom(...CERTAINTIES),
    inOrder: fc.boolean(),
    owner: fc.constantFrom('', 'aaaaaaaaaaaa', 'gone'),
    life: fc.constantFrom('alive', 'dead', 'elsewhere'),
    silentMs: fc.constantFrom(1_000, 50_000),
    recovering: fc.boolean(),
    breaker: fc.boolean(),
    hold: fc.boolean(),
    retry: some,
    held: some,
    rest: some,
    unknown: some,
    doubt: some,
    sent: some,
  });
  fc.assert(
    fc.property(anything, (facts) => {
      const one = batch({
        ...facts,
        planned: group('planned', facts.retry + facts.held + facts.rest),
        retry: { ...batch().retry, ...group('planned', facts.retry, []) },
        held: { ...batch().held, ...group('planned', facts.held, []) },
        unknown: { ...unknown, ...group('unknown', facts.unknown) },
        doubt: { ...batch().doubt, ...group('doubt', facts.doubt) },
        sending: [sending(facts.sent)],
      });
      const around = realm({
        signs: [sign({ life: facts.life, seenMs: NOW - facts.silentMs })],
        recovering: facts.recovering,
        breaker: facts.breaker ? { sinceMs: NOW, haltsAtMs: null } : null,
        hold: facts.hold ? { sinceMs: NOW, untilMs: NOW + 1 } : null,
      });
      const named = told(one, around);
      const orders = named.reduce((sum, each) => sum + each.orders, 0);
      const open = one.planned.orders + facts.unknown + facts.doubt + facts.sent;
      expect(orders).toBeLessThanOrEqual(open);
      for (const each of named) expect(each.tokens).toBe(String(each.orders * 5));
      const moves = open - orders;
      const atWork = facts.life !== 'dead' && facts.silentMs < 45_000;
      if (!atWork) expect(moves).toBe(0);
      if (one.whyNot.length > 0) expect(moves).toBe(atWork ? facts.sent : 0);
    }),
  );
});
