import { z } from 'zod';
import type { ErrorCode } from '../../core/errors/catalogue.js';
import { noteAct } from '../journal/positions.js';
import { askRealm, askScript, type RealmLedger, storeNowMs } from '../realm-ledger.js';
import { type AuditEntry, encodeAudit, type Reason } from '../views.js';

type Steered = { readonly done: boolean; readonly state: string };

/** By its id as well: since a rollback the number may stand for another batch. */
type Steerable = { readonly ledger: RealmLedger; readonly no: string; readonly id: string };

async function steer(
  { ledger, no, id }: Steerable,
  verb: string,
  audit: AuditEntry | null,
  { rest, now = '' }: { readonly rest: readonly string[]; readonly now?: '1' | '' },
): Promise<Steered> {
  const [status, state = ''] = await askScript(ledger, 'steer', [
    no,
    verb,
    audit === null ? '' : encodeAudit(audit),
    ...rest,
    id,
    now,
  ]);
  // Without an audit entry the program did it, and does it again where the store has forgotten it.
  if (status === 'ok' && audit !== null && verb !== 'disown') await noteAct(ledger);
  return { done: status === 'ok', state };
}

/** `owner`: an interrupted run pauses only what is still its own; null pauses whatever it is. */
export function pauseBatch(batch: Steerable, why: Reason, audit: AuditEntry, owner: string | null = null) {
  return steer(batch, 'pause', audit, { rest: [JSON.stringify(why), '', owner ?? '*', '', ''] });
}

/**
 * `haltedFor`: only a batch that stands still for this very reason goes on, and keeps its limit. `from`: only one
 * that has this owner. `now`: instead of at its set time, which a resume keeps otherwise.
 */
export function resumeBatch(
  batch: Steerable,
  audit: AuditEntry | null,
  options: {
    owner: string;
    from?: string;
    first?: { orders: number; reason: Reason };
    haltedFor?: ErrorCode;
    now?: boolean;
  },
) {
  const { owner, first } = options;
  const rest = [
    options.haltedFor ?? '',
    owner,
    options.from ?? '*',
    first === undefined ? '' : String(first.orders),
    first === undefined ? '' : JSON.stringify(first.reason),
  ];
  return steer(batch, 'resume', audit, { rest, now: options.now === true ? '1' : '' });
}

/** The program itself stops what is planned or running. */
export function haltBatch(batch: Steerable, why: Reason) {
  return steer(batch, 'halt', null, { rest: [JSON.stringify(why), '', '*', '', ''] });
}

/** `unapproved`: only while it waits for a second person. */
export function cancelBatch(batch: Steerable, audit: AuditEntry, only: 'unapproved' | '' = '') {
  return steer(batch, 'cancel', audit, { rest: [only, '', '*', '', ''] });
}

/** The session that owned the batch is gone: a run stands still, a cancelled batch is left to the workers. */
export function disownBatch(batch: Steerable, why: Reason, audit: AuditEntry, owner: string) {
  return steer(batch, 'disown', audit, { rest: [JSON.stringify(why), '', owner, '', ''] });
}

export async function haltRealm(ledger: RealmLedger, why: Reason): Promise<void> {
  await askRealm(ledger, 'halt realm', async (redis, T) => {
    const nowMs = await storeNowMs(ledger);
    if ((await redis.hsetnx(T, 'halt', JSON.stringify(why))) === 1) await redis.hset(T, 'haltAt', nowMs);
  });
}

/** Lets a halted realm go on; the caller has tried the key with one read first. */
export async function releaseRealm(ledger: RealmLedger): Promise<void> {
  await askRealm(ledger, 'release realm', (redis, T) =>
    redis.hdel(T, 'halt', 'haltAt', 'breaker', 'breakerUntil', 'probeAt', 'unknowns'),
  );
}

export async function askProbe(ledger: RealmLedger, everyMs: number, haltAfterMs: number, why: Reason) {
  const reply = await ledger.scripts.script('probe', ledger.keyPrefix, [
    everyMs,
    haltAfterMs,
    JSON.stringify(why),
  ]);
  return z.enum(['closed', 'probe', 'wait', 'halted']).parse(reply);
}

export async function closeBreaker(ledger: RealmLedger): Promise<void> {
  await askRealm(ledger, 'close breaker', (redis, T) =>
    redis.hdel(T, 'breaker', 'breakerUntil', 'probeAt', 'unknowns'),
  );
}
