import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DecisionContext, decide } from '../../src/core/decide.js';
import { OUTCOME_KINDS, type OutcomeKind, type WriteOutcome } from '../../src/core/outcome.js';
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
    keyLifetimeMs: 10_000,
    resend: false,
    keyNumber: 4,
    tries: 0,
    sent: 1,
    unknownForMs: 0,
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

  test('slow down uses up no attempt, keeps the key and waits as long as it was told', () => {
    expect(decide(outcome('slow-down', { retryAfterMs: 7_000 }), context({ tries: 2 }))).toMatchObject({
      next: 'wait',
      dueInMs: 7_000,
      tries: 2,
      keyNumber: 4,
      limited: true,
    });
    expect(decide(outcome('slow-down'), context())).toMatchObject({ next: 'wait', dueInMs: 50 });
  });

  test('a refused key or a bad certificate halts the realm and burns nothing', () => {
    for (const told of [outcome('realm-halted'), outcome('not-sent', { code: 'ALM_SEND_BAD_CERTIFICATE' })])
      expect(decide(told, context({ tries: 2 }))).toMatchObject({ next: 'wait', haltRealm: true, tries: 2 });
  });

  test('what was never sent is tried again, later and later, until its attempts are used up', () => {
    const told = outcome('not-sent', { code: 'ALM_SEND_NOT_SENT' });
    expect(decide(told, context({ tries: 0 }))).toMatchObject({
      next: 'wait',
      tries: 1,
      dueInMs: 50,
      haltRealm: false,
    });
    expect(decide(told, context({ tries: 1 }))).toMatchObject({ next: 'wait', tries: 2, dueInMs: 100 });
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
  const resend = (told: WriteOutcome, over: Partial<DecisionContext> = {}) =>
    decide(told, context({ resend: true, sent: 2, ...over }));

  test('is ended by an answer to the same key only', () => {
    expect(resend(outcome('paid'))).toMatchObject({ next: 'paid', evidence: 'key' });
    for (const status of [400, 404, 422])
      expect(resend(outcome('refused', { status }))).toMatchObject({ next: 'refused', evidence: 'key' });
    expect(resend(outcome('refused', { status: 410 }))).toMatchObject({ next: 'unknown' });
  });

  test('is never exhausted, whatever happens to the resend', () => {
    for (const kind of ['not-sent', 'slow-down', 'realm-halted', 'unknown'] as const)
      expect(resend(outcome(kind), { tries: 99 })).toMatchObject({
        next: 'unknown',
        tries: 99,
        keyNumber: 4,
      });
  });

  test('becomes a doubt when the realm may have forgotten the key', () => {
    expect(resend(outcome('unknown'), { unknownForMs: 9_999 })).toMatchObject({ next: 'unknown' });
    expect(resend(outcome('unknown'), { unknownForMs: 10_000 })).toMatchObject({ next: 'doubt' });
    // The clocks disagree: nobody can say how old the key is.
    expect(resend(outcome('unknown'), { unknownForMs: Number.POSITIVE_INFINITY })).toMatchObject({
      next: 'doubt',
    });
    expect(resend(outcome('paid'), { unknownForMs: Number.POSITIVE_INFINITY })).toMatchObject({
      next: 'paid',
    });
  });
});

test('whatever the outcome: sent again only after a definite no, or with the same key where keys are honoured', () => {
  const anyContext = fc.record({
    certainty: fc.constantFrom<Certainty>(...CERTAINTIES),
    resend: fc.boolean(),
    tries: fc.nat({ max: 5 }),
    sent: fc.integer({ min: 1, max: 9 }),
    unknownForMs: fc.nat({ max: 20_000 }),
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
      if (decision.next === 'wait' || decision.next === 'exhausted') {
        expect(around.resend).toBe(false);
        expect(['slow-down', 'realm-halted', 'not-sent']).toContain(kind);
      }
      if (decision.next !== 'refused') expect(decision.keyNumber).toBe(4);
      if (decision.next === 'paid') expect(kind).toBe('paid');
      expect(decision.dueInMs).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(decision.dueInMs)).toBe(true);
    }),
  );
});
