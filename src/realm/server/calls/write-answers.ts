import { type Answer, refuse } from '../answer.js';

/** Answers that both write calls give. Each says that nothing was changed: a client may rely on it. */

export const REPLAYED = { 'idempotency-replayed': 'true' };

export function tooSmall(member: string, balance: number, needed: number): Answer {
  const message = `Member ${member} has ${balance} points, ${needed} are needed. Nothing was changed.`;
  return refuse(422, 'balance_too_small', message, { member, balance, needed });
}

export function outOfRange(member: string, balance: number): Answer {
  const message = `The balance of member ${member} would leave the range of exact integers (2^53-1). Nothing was changed.`;
  return refuse(422, 'balance_out_of_range', message, { member, balance });
}

export function keyReused(): Answer {
  return refuse(
    422,
    'idempotency_key_reused',
    'This Idempotency-Key was used for a change with other content. Nothing was changed.',
  );
}

export function keyRunning(): Answer {
  return refuse(
    409,
    'idempotency_key_running',
    'A request with this Idempotency-Key is still running. Ask again with the same key to get its answer.',
    undefined,
    { 'retry-after': '1' },
  );
}
