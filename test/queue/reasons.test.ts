import { describe, expect, test } from 'vitest';
import type { WriteOutcome } from '../../src/core/classify.js';
import { haltReason, refusalReason } from '../../src/queue/reasons.js';
import { testProfile } from '../support/ledger/realm-profile.js';

const outcome = (message: string): WriteOutcome => ({
  kind: 'refused',
  code: 'ALM_REFUSED_NOT_FOUND',
  message,
  phase: 'done',
  status: 404,
  requestId: null,
  retryAfterMs: null,
  rate: null,
  latencyMs: 1,
  body: '',
  balance: null,
});

describe('why work stands still', () => {
  test.each([
    'The realm answered 404: no such member (nothing was applied)',
    'The realm could not be reached; nothing was sent.',
  ])('is whole sentences, whatever the realm said: %s', (message) => {
    for (const reason of [refusalReason(outcome(message)), haltReason(testProfile(), outcome(message))]) {
      expect(reason.message).toContain(message.replace(/\.$/, ''));
      expect(reason.message).not.toMatch(/\)\)|\.\.|[^.] No further/);
    }
  });
});
