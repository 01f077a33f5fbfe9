import type { Logger } from 'pino';
import { messageOf } from '../../core/errors/error.js';
import { type Answer, refuse, StoreFailure } from './answer.js';
import type { RealmAccounts } from './books.js';
import type { Call } from './call.js';
import { keyRunning } from './calls/write-answers.js';
import type { FaultDice, Misfortune } from './faults.js';
import type { RunningKeys } from './idempotency-key.js';
import { tooManyRequests } from './rate-limit.js';
import type { Route } from './routes.js';
import type { Wire } from './wire.js';

export type Serving = {
  readonly ledger: RealmAccounts;
  readonly running: RunningKeys;
  readonly dice: FaultDice | null;
  readonly maxTokens: number;
  readonly logger: Logger | undefined;
};

/**
 * The life of an admitted request: claim the key, meet what fate puts before the change, make the change,
 * give the key back, meet what fate puts after it, answer. The answer leaves only once Redis has
 * acknowledged the change.
 */
export async function serveCall(serving: Serving, route: Route, call: Call, wire: Wire): Promise<void> {
  const release = serving.running.claim(call.realmId, call.idempotencyKey);
  if (release === undefined) return wire.send(keyRunning());
  const fate = serving.dice?.next();
  let answer: Answer;
  try {
    if (fate !== undefined && fate.latencyMs > 0) await wire.wait(fate.latencyMs);
    if (fate?.misfortune && (await endsBefore(fate.misfortune, wire))) return;
    answer = await answerCall(serving, route, call);
  } finally {
    release();
  }
  if (fate?.misfortune) await endAfter(fate.misfortune, answer, wire);
  else wire.send(answer);
}

async function answerCall(serving: Serving, route: Route, call: Call): Promise<Answer> {
  try {
    return await route.handle(call, serving.ledger, serving.maxTokens);
  } catch (error) {
    const write = route.method === 'PATCH';
    const about = { requestId: call.requestId, operation: route.operationId, error: messageOf(error) };
    if (error instanceof StoreFailure) {
      serving.logger?.warn(about, 'the store failed under a request');
      return storeUnavailable(write && error.sent);
    }
    serving.logger?.error(about, 'a request failed unexpectedly');
    const known = write ? ' Whether the change was applied is not known.' : '';
    return refuse(500, 'internal_error', `The service failed.${known}`, {
      applied: write ? 'unknown' : 'no',
    });
  }
}

/** `applied` is part of the answer because a caller must know whether asking again could pay twice. */
export function storeUnavailable(unknown: boolean): Answer {
  return unknown
    ? refuse(
        503,
        'store_unavailable',
        'The store failed while the change was made. Whether it was applied is not known; ask again with the same Idempotency-Key.',
        { applied: 'unknown' },
      )
    : refuse(503, 'store_unavailable', 'The store is not reachable. Nothing was changed.', { applied: 'no' });
}

async function endsBefore(misfortune: Misfortune, wire: Wire): Promise<boolean> {
  switch (misfortune.kind) {
    case 'storm':
      wire.send(tooManyRequests(misfortune.retryAfterMs));
      return true;
    case 'error':
      if (misfortune.when === 'after') return false;
      wire.send(injected(misfortune.status));
      return true;
    case 'hang':
      if (misfortune.when === 'after') return false;
      await wire.hang(misfortune.closeAfterMs);
      return true;
    case 'reset':
      if (misfortune.when === 'after') return false;
      wire.reset();
      return true;
    case 'truncate':
      return false;
  }
}

async function endAfter(misfortune: Misfortune, answer: Answer, wire: Wire): Promise<void> {
  switch (misfortune.kind) {
    case 'storm':
      return wire.send(answer);
    case 'error':
      return wire.send(injected(misfortune.status));
    case 'hang':
      return wire.hang(misfortune.closeAfterMs);
    case 'reset':
      return wire.reset();
    case 'truncate':
      return wire.truncate(answer, misfortune.bytes);
  }
}

/** The same text before and after the change: a caller must not be able to tell the two apart. */
function injected(status: number): Answer {
  return refuse(status, 'injected_fault', 'A fault of the rehearsal.');
}
