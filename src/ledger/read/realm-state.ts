import type { Refusal } from '../../core/may-send.js';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import { decodeReason, type Reason } from '../views.js';

type RealmState = {
  readonly halt: Reason | null;
  readonly breakerSince: number | null;
  /** The store was restarted or rolled back, and a person has to act before anything is sent again. */
  readonly disarmed: Reason | null;
  /** Another one is another memory of the store. */
  readonly era: string;
};

export async function realmState(ledger: RealmLedger): Promise<RealmState> {
  const [halt, breaker, disarmed, era] = await askRealm(ledger, 'read realm', (redis, T) =>
    redis.hmget(T, 'halt', 'breaker', 'fenceReason', 'era'),
  );
  return {
    halt: decodeReason(halt),
    disarmed: decodeReason(disarmed),
    breakerSince: breaker === null || breaker === undefined ? null : Number(breaker),
    era: era ?? '',
  };
}

/** Why nothing of the realm is sent now, as far as that spares the questions of the scripts; null where they are to be asked. */
export async function whyNotRealm(
  ledger: RealmLedger,
): Promise<Extract<Refusal, 'halted' | 'breaker'> | null> {
  const { halt, breakerSince } = await realmState(ledger);
  if (halt !== null) return 'halted';
  return breakerSince === null ? null : 'breaker';
}
