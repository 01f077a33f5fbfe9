import { setTimeout as sleep } from 'node:timers/promises';
import type { RealmProfile } from '../../core/profile.js';
import type { AnswerFacts, ReadResult } from './read-result.js';

/** Asked before each single request; told what came of it. Reads count against the rate like writes. */
export type Slot = { answered(facts: AnswerFacts): void | Promise<void> };
export type Pace = () => Promise<Slot>;

export const NO_PACE: Pace = async () => ({ answered() {} });

export type RetryOptions = {
  readonly attempts: RealmProfile['attempts'];
  readonly pace: Pace;
  /** From 0 to 1; spreads the tries of many processes. */
  readonly random: () => number;
};

/** A wait longer than this is told to the person instead of being sat out. */
const RETRY_AFTER_MAX_MS = 120_000;

/** Repeats a read while its failure may pass, and throws the last failure. Never to be used for a write. */
export async function readWithRetries<T>(
  once: () => Promise<ReadResult<T>>,
  { attempts, pace, random }: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const slot = await pace();
    const result = await once();
    await slot.answered(result.facts);
    if (result.ok) return result.value;
    const asked = result.facts.retryAfterMs ?? 0;
    if (!result.retryable || attempt >= attempts.max || asked > RETRY_AFTER_MAX_MS) throw result.error;
    const backoff = Math.min(attempts.backoffMaxMs, attempts.backoffMs * 2 ** (attempt - 1));
    await sleep(Math.max(asked, backoff * (0.5 + random() / 2)));
  }
}
