import { describe, expect, it } from 'vitest';
import {
  type AttemptFacts,
  classify,
  OUTCOME_KINDS,
  type OutcomeKind,
  type WriteOutcome,
} from '../../src/core/classify.js';
import { classifyResend } from '../../src/core/decide.js';
import { OUTCOME_ERRORS } from '../../src/core/errors/orders.js';

const REFUSED = [400, 402, 404, 405, 406, 410, 411, 413, 414, 415, 417, 422, 431, 451, 501, 505];
const HALTED = [401, 403, 407];
const SLOW = [421, 425, 429];

function expected(status: number): OutcomeKind {
  if (status !== 202 && status >= 200 && status <= 299) return 'paid';
  if (REFUSED.includes(status)) return 'refused';
  if (HALTED.includes(status)) return 'realm-halted';
  return SLOW.includes(status) ? 'slow-down' : 'unknown';
}

const answer = (
  status: number,
  body: 'readable' | 'contradicts' | 'unreadable' = 'readable',
): AttemptFacts => ({
  ended: 'answer',
  status,
  body,
});

describe('the classification table', () => {
  it('puts every status from 100 to 999 where the table says, and what it does not list into unknown', () => {
    for (let status = 100; status <= 999; status++) {
      const { kind, code } = classify(answer(status));
      expect(kind, `status ${status}`).toBe(expected(status));
      if (code === null) expect(kind).toBe('paid');
      else expect(Object.keys(OUTCOME_ERRORS)).toContain(code);
    }
  });

  it('takes a 2xx for paid only with a readable body that does not say otherwise', () => {
    expect(classify(answer(200, 'unreadable'))).toEqual({ kind: 'unknown', code: 'ALM_SEND_UNREADABLE' });
    expect(classify(answer(200, 'contradicts'))).toEqual({ kind: 'unknown', code: 'ALM_SEND_CONTRADICTED' });
    expect(classify(answer(202))).toEqual({ kind: 'unknown', code: 'ALM_SEND_ACCEPTED_ONLY' });
  });

  it('takes a refusal for one whatever its body is', () => {
    for (const status of REFUSED) expect(classify(answer(status, 'unreadable')).kind).toBe('refused');
  });

  it('says not-sent only for a fresh socket that was never connected, whatever the cause', () => {
    for (const cause of ['time-out', 'reset', 'garbled', 'bad-certificate'] as const) {
      for (const phase of ['connect', 'tls', 'sent', 'headers', 'body'] as const) {
        const fresh = classify({ ended: 'failure', phase, freshSocket: true, cause });
        expect(fresh.kind).toBe(phase === 'connect' || phase === 'tls' ? 'not-sent' : 'unknown');
        const reused = classify({ ended: 'failure', phase, freshSocket: false, cause });
        expect(reused.kind).toBe('unknown');
      }
    }
  });

  it('lets the profile give a status another meaning', () => {
    for (const kind of OUTCOME_KINDS) expect(classify(answer(409), { '409': kind }).kind).toBe(kind);
    expect(classify(answer(204, 'unreadable'), { '204': 'paid' }).kind).toBe('paid');
    expect(classify(answer(404), { '409': 'paid' }).kind).toBe('refused');
    expect(classify(answer(200), { '200': 'unknown' }).kind).toBe('unknown');
  });

  it('does not let an override turn a body that reports failure into paid', () => {
    expect(classify(answer(409, 'contradicts'), { '409': 'paid' }).kind).toBe('unknown');
  });

  it('does not take an inherited name for an override', () => {
    expect(classify({ ended: 'answer', status: Number.NaN, body: 'readable' }, {}).kind).toBe('unknown');
  });
});

describe('the second table: a resend after an unknown', () => {
  const resend = (facts: AttemptFacts, overrides = {}) => {
    const status = facts.ended === 'answer' ? facts.status : null;
    const outcome: WriteOutcome = {
      ...classify(facts, overrides),
      message: '',
      phase: 'done',
      status,
      requestId: null,
      retryAfterMs: null,
      rate: null,
      latencyMs: 1,
      body: '',
      balance: null,
    };
    return classifyResend(outcome);
  };

  it('ends only by 2xx, 400, 404 and 422', () => {
    for (let status = 100; status <= 999; status++) {
      const ends = status !== 202 && status >= 200 && status <= 299 ? 'paid' : undefined;
      const refused = [400, 404, 422].includes(status) ? 'refused' : 'unknown';
      expect(resend(answer(status)).kind, `status ${status}`).toBe(ends ?? refused);
    }
  });

  it('stays unknown, with the code that tells why, when the resend was not sent or the realm halted', () => {
    const notSent = resend({ ended: 'failure', phase: 'connect', freshSocket: true, cause: 'reset' });
    expect(notSent).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_NOT_SENT' });
    expect(resend(answer(401))).toMatchObject({ kind: 'unknown', code: 'ALM_KEY_REFUSED' });
    expect(resend({ ended: 'no-key' })).toMatchObject({ kind: 'unknown', code: 'ALM_KEY_UNUSABLE' });
  });

  it('follows an override that says paid, and none that says refused beyond 400, 404 and 422', () => {
    expect(resend(answer(409), { '409': 'paid' }).kind).toBe('paid');
    expect(resend(answer(403), { '403': 'refused' }).kind).toBe('unknown');
    expect(resend(answer(404), { '404': 'unknown' }).kind).toBe('unknown');
  });
});
