import { type WaitingWhy, WHY_NOT } from '../../../src/core/may-send.js';
import type { OpenState } from '../../../src/core/waiting.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readRecord, stateOf } from '../../../src/ledger/read/rows.js';
import type { BatchRef } from '../../../src/ledger/realm-ledger.js';
import { causesOf } from '../../../src/operations/batches/waiting.js';
import { NO_PROFILES } from './realm-profile.js';

/** Every order that is listed as waiting, with its reason. An order that is neither final nor listed must be moving. */
export async function namedOrders(ref: BatchRef): Promise<Map<number, WaitingWhy>> {
  const causes = await causesOf(ref, NO_PROFILES);
  const named = new Map<number, WaitingWhy>();
  for (const { why, groups } of causes)
    for (const { indexes } of groups) for (const index of indexes ?? []) named.set(index, WHY_NOT[why].shown);
  const states = await openStates(ref);
  for (const { why, groups } of causes)
    for (const { state, indexes } of groups)
      for (const [index, its] of states)
        if (indexes === null && its === state && !named.has(index)) named.set(index, WHY_NOT[why].shown);
  return named;
}

/** The orders of a batch that are not final. */
export async function openStates(ref: BatchRef): Promise<Map<number, OpenState>> {
  const view = await readBatch(ref);
  const open = new Map<number, OpenState>();
  for (let index = 1; index <= (view?.manifest.rows ?? 0); index++) {
    const state = stateOf(await readRecord(ref, index), view?.state === 'cancelled');
    if (state === 'planned' || state === 'sending' || state === 'unknown' || state === 'doubt')
      open.set(index, state);
  }
  return open;
}
