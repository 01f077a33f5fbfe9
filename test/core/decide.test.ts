import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OUTCOME_KINDS, type OutcomeKind, type WriteOutcome } from '../../src/core/classify.js';
import { type DecisionContext, decide, type Resend } from '../../src/core/decide.js';
import { CERTAINTIES, type Certainty } from '../../src/core/profile.js';

function outcome(kind: OutcomeKind, over: Partial<WriteOutcome> = {}): WriteOutcome {
  return {
    kind,
    code: kind === 'paid' ? null : 'ALM_SEND_TIMEOUT',
    message: '',
    phase: 'done',
    status: null,
    requestId: null,
    retryAfterMs: null,
    rate: null,
    latencyMs: 1,
    body: '',
    balance: null,
    ...over,
  };
}

function context(over: Partial<DecisionContext> = {}): DecisionContext {
  return {
    certainty: 'idempotent',
    attempts: { max: 3, backoffMs: 100, backoffMaxMs: 1_000 },
    resend: null,
    keyNumber: 4,
    tries: 0,
    sent: 1,
    random: () => 0.5,
    ...over,
  };
}

describe('the first attempt', () => {
  test('paid ends it, proven by the answer', () => {
    expect(decide(outcome('paid'), context())).toMatchObject({
      next: 'paid',
      evidence: 'answer',
      keyNumber: 4,
    });
  });

  test('a refusal is definite: a retry by a person asks with a new key', () => {
    expect(decide(outcome('refused', { status: 404 }), context())).toMatchObject({
      next: 'refused',
      evidence: 'answer',
      keyNumber: 5,
    });
  });

  test('slow down uses up no attempt, keeps the key and waits as long as the realm asks', () => {
    expect(decide(outcome('slow-down', { retryAfterMs: 7_000 }), context({ tries: 2 }))).toMatchObject({
      next: 'planned',
      dueInMs: 7_000,
      tries: 2,
      keyNumber: 4,
      limited: true,
    });
    expect(decide(outcome('slow-down'), context())).toMatchObject({ next: 'planned', dueInMs: 50 });
  });

  test('a refused key or a bad certificate halts the realm and fails no order', () => {
    for (const told of [outcome('realm-halted'), outcome('not-sent', { code: 'ALM_SEND_BAD_CERTIFICATE' })])
      expect(decide(told, context({ tries: 2 }))).toMatchObject({
        next: 'planned',
        haltRealm: true,
        tries: 2,
      });
  });

  test('what was never sent uses no attempt and is tried again, later and later, but never much later', () => {
    const told = outcome('not-sent', { code: 'ALM_SEND_NOT_SENT' });
    const slow = { max: 3, backoffMs: 100, backoffMaxMs: 600_000 };
    for (const [sent, dueInMs] of [
      [1, 50],
      [3, 200],
      [40, 2_500],
    ] as const)
      expect(decide(told, context({ tries: 2, sent, attempts: slow }))).toMatchObject({
        next: 'planned',
        tries: 2,
        keyNumber: 4,
        dueInMs,
        haltRealm: false,
      });
  });

  test('an answer that the profile declares as not sent is an answer: it uses attempts up', () => {
    const told = outcome('not-sent', { code: 'ALM_SEND_NOT_SENT', status: 503 });
    expect(decide(told, context({ tries: 0 }))).toMatchObject({
      next: 'planned',
      tries: 1,
      dueInMs: 50,
      haltRealm: false,
    });
    expect(decide(told, context({ tries: 1 }))).toMatchObject({ next: 'planned', tries: 2, dueInMs: 100 });
    expect(decide(told, context({ tries: 2 }))).toMatchObject({ next: 'exhausted', tries: 3 });
  });

  test.each([
    ['manual', 'doubt'],
    ['readback', 'unknown'],
    ['idempotent', 'unknown'],
  ] as const)('an unknown under %s is %s', (certainty, next) => {
    expect(decide(outcome('unknown'), context({ certainty }))).toMatchObject({
      next,
      tries: 0,
      keyNumber: 4,
      evidence: null,
    });
  });
});

describe('a resend after an unknown', () => {
  const OVER: Resend = { settleTime: 'over', settleLeftMs: 0 };
  const NOT_YET: Resend = { settleTime: 'not-yet', settleLeftMs: 70_000 };
  const DISAGREE: Resend = { settleTime: 'clocks-disagree', settleLeftMs: 70_000 };
  const resend = (told: WriteOutcome, over: Partial<DecisionContext> = {}) =>
    decide(told, context({ resend: OVER, sent: 2, ...over }));

  test('is ended by an answer to the same key only', () => {
    expect(resend(outcome('paid'))).toMatchObject({ next: 'paid', evidence: 'key' });
    for (const status of [400, 404, 422])
      expect(resend(outcome('refused', { status }))).toMatchObject({
        next: 'refused',
        evidence: 'key',
        keyNumber: 5,
      });
    expect(resend(outcome('refused', { status: 410 }))).toMatchObject({ next: 'unknown' });
  });

  test('that does not reach the realm is made again soon', () => {
    const slow = { max: 3, backoffMs: 100, backoffMaxMs: 600_000 };
    expect(resend(outcome('not-sent'), { sent: 40, attempts: slow })).toMatchObject({ dueInMs: 2_500 });
  });

  test('is never exhausted, whatever happens to the resend', () => {
    for (const kind of ['not-sent', 'slow-down', 'realm-halted', 'unknown'] as const)
      for (const settled of [OVER, NOT_YET, DISAGREE])
        expect(resend(outcome(kind), { tries: 99, resend: settled })).toMatchObject({
          next: 'unknown',
          tries: 99,
          keyNumber: 4,
        });
  });

  test.each([400, 404, 422])(
    'is not ended by %i while what went unanswered may still arrive: it keeps its key and asks again then',
    (status) => {
      expect(resend(outcome('refused', { status }), { resend: NOT_YET })).toMatchObject({
        next: 'unknown',
        keyNumber: 4,
        evidence: null,
        dueInMs: 70_000,
      });
    },
  );

  test('waits no longer at once than any order does, however long the settle time is', () => {
    const long: Resend = { settleTime: 'not-yet', settleLeftMs: 86_400_000 };
    const { next, dueInMs } = resend(outcome('refused', { status: 422 }), { resend: long });
    expect([next, dueInMs]).toEqual(['unknown', 30 * 60_000]);
  });

  test('is a doubt where it is refused and the clocks disagree about what may still arrive', () => {
    expect(resend(outcome('refused', { status: 404 }), { resend: DISAGREE })).toMatchObject({
      next: 'doubt',
      keyNumber: 4,
    });
  });

  test('is paid by a yes to its key, whatever the clocks say', () => {
    for (const settled of [NOT_YET, DISAGREE])
      expect(resend(outcome('paid'), { resend: settled })).toMatchObject({ next: 'paid', evidence: 'key' });
  });
});

test('every outcome: an order is sent again only after a definite refusal, or under its key where keys are honoured', () => {
  const anyContext = fc.record({
    certainty: fc.constantFrom<Certainty>(...CERTAINTIES),
    resend: fc.option(
      fc.record<Resend>({
        settleTime: fc.constantFrom('over', 'not-yet', 'clocks-disagree'),
        settleLeftMs: fc.nat({ max: 1e9 }),
      }),
    ),
    tries: fc.nat({ max: 5 }),
    sent: fc.integer({ min: 1, max: 9 }),
  });
  const anyOutcome = fc.record({
    kind: fc.constantFrom(...OUTCOME_KINDS),
    status: fc.option(fc.integer({ min: 200, max: 599 })),
    retryAfterMs: fc.option(fc.nat({ max: 60_000 })),
  });
  fc.assert(
    fc.property(anyOutcome, anyContext, ({ kind, ...told }, around) => {
      const decision = decide(outcome(kind, told), context(around));
      if (kind === 'unknown') expect(['unknown', 'doubt']).toContain(decision.next);
      if (decision.next === 'planned' || decision.next === 'exhausted') {
        expect(around.resend).toBeNull();
        expect(['slow-down', 'realm-halted', 'not-sent']).toContain(kind);
      }
      if (decision.next === 'refused') expect(around.resend?.settleTime ?? 'over').toBe('over');
      else expect(decision.keyNumber).toBe(4);
      if (decision.next === 'paid') expect(kind).toBe('paid');
      expect(decision.dueInMs).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(decision.dueInMs)).toBe(true);
    }),
  );
});
