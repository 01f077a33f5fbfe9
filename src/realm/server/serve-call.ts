import type { Logger } from 'pino';
import { messageOf } from '../../core/errors/error.js';
import type { RealmAccounts } from './accounts.js';
import { type Answer, refuse, tooManyRequests } from './answer.js';
import type { Call, Route } from './calls.js';
import type { FaultDice, InjectedFault } from './faults.js';
import { StoreFailure } from './store.js';
import type { Wire } from './wire.js';

/** The parts that serving a call needs. */
export type Serving = {
  readonly accounts: RealmAccounts;
  readonly running: RunningKeys;
  readonly dice: FaultDice | null;
  readonly logger: Logger | undefined;
};

/**
 * Serves an admitted request: claim the key, apply a `before` fault, make the change, release the key, apply an
 * `after` fault, answer. The answer leaves only after Redis has acknowledged the change.
 */
export async function serveCall(serving: Serving, route: Route, call: Call, wire: Wire): Promise<void> {
  const release = serving.running.claim(call.realmId, call.idempotencyKey);
  if (release === undefined) return wire.send(keyRunning());
  const { latencyMs, injected } = serving.dice?.next() ?? { latencyMs: 0, injected: null };
  let answer: Answer;
  try {
    if (latencyMs > 0) await wire.wait(latencyMs);
    if (injected?.when === 'before') return await inject(injected, null, wire);
    answer = await answerCall(serving, route, call);
  } finally {
    release();
  }
  if (injected === null) wire.send(answer);
  else await inject(injected, answer, wire);
}

/** Runs the handler. A failure of the store becomes an answer that says whether the change may have been applied. */
async function answerCall(serving: Serving, route: Route, call: Call): Promise<Answer> {
  try {
    return await route.handle(call, serving.accounts);
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

/** `applied` is part of the answer, because the caller must know whether a repeated request could pay twice. */
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

/** Carries out an injected fault on the wire. `answer` is the real answer, if the change was made. */
async function inject({ kind, value }: InjectedFault, answer: Answer | null, wire: Wire): Promise<void> {
  switch (kind) {
    case 'storm':
      return wire.send(tooManyRequests(value));
    case 'error':
      return wire.send(faultAnswer(value));
    case 'hang':
      return wire.hang(value);
    case 'reset':
      return wire.reset();
    case 'truncate':
      if (answer !== null) wire.truncate(answer, value);
  }
}

/** The text is the same before and after the change, so that a caller cannot tell the two apart. */
function faultAnswer(status: number): Answer {
  return refuse(status, 'injected_fault', 'A fault of the rehearsal.');
}

function keyRunning(): Answer {
  const message =
    'A request with this Idempotency-Key is still running. Ask again with the same key to get its answer.';
  return { ...refuse(409, 'idempotency_key_running', message), headers: { 'retry-after': '1' } };
}

/**
 * Idempotency keys whose request has arrived in this process and has not reached the store yet. The change is one
 * script, so two requests can never both apply. But while the first is delayed before the script (slow store,
 * rehearsed delay), a second gets 409 instead of overtaking it. The list is in this process on purpose: a marker in
 * Redis would need an expiry, and a request slower than that would be overtaken anyway.
 */
export class RunningKeys {
  readonly #running = new Set<string>();

  /** Returns the function that releases the claim; undefined if a request with this key is in progress. */
  claim(realmId: string, key: string | null): (() => void) | undefined {
    if (key === null) return () => {};
    const name = `${realmId}\n${key}`;
    if (this.#running.has(name)) return undefined;
    this.#running.add(name);
    return () => {
      this.#running.delete(name);
    };
  }
}
