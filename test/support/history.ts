import { expect } from 'vitest';
import type { FailPoint } from '../../src/core/fail-point.js';
import type { Certainty } from '../../src/core/profile.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { sealed } from './ledgers-on-redis.js';
import { feedAll } from './order-moves.js';
import { Clocks, type Fate, PlayedRealm, SETTLE_MS } from './played-realm.js';
import { Sender } from './sender-in-process.js';
import { tempFolder } from './temp-folder.js';
import { tieUp } from './tie-up.js';
import { Lossy, photograph } from './unreliable-store.js';

/** One history of senders, a realm and a store that all fail, played to its end and judged. */

/** Few members and equal amounts both ways: a balance that looks right for the wrong reason has to show. */
const LINES = [
  { member: '1', reference: 'r-1' },
  { member: '1', op: 'debit', reference: 'r-2' },
  { member: '1', to: '2', reference: 'r-3' },
  { member: '2', op: 'debit', reference: 'r-4' },
  { member: '3', reference: 'r-5' },
] as const;
export const ORDERS = LINES.length;
export const SENDERS = 3;

export type Step =
  | {
      readonly do: 'begin';
      readonly sender: number;
      readonly index: number;
      readonly crashAt: FailPoint | null;
      readonly pausing: boolean;
    }
  | {
      readonly do: 'finish';
      readonly sender: number;
      readonly fate: Fate;
      readonly crashAt: FailPoint | null;
    }
  /** Everybody looks, unless it says who. */
  | { readonly do: 'recover'; readonly sender: number | null }
  /** The replies to the next scripts are lost; each is asked again. */
  | { readonly do: 'lose'; readonly replies: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'step the clock'; readonly ms: number }
  | { readonly do: 'meddle'; readonly member: string }
  | { readonly do: 'photograph' }
  | { readonly do: 'roll back'; readonly to: number };

/** Fails where somebody was paid twice, something is called what it is not, or has not ended. */
export async function play(owner: RealmLedger, certainty: Certainty, steps: readonly Step[]): Promise<void> {
  const senders: Sender[] = [];
  try {
    await history(owner, certainty, steps, senders);
  } finally {
    for (const one of senders) if (one.alive) await one.die();
  }
}

async function history(
  owner: RealmLedger,
  certainty: Certainty,
  steps: readonly Step[],
  senders: Sender[],
): Promise<void> {
  const folder = await tempFolder();
  const batch = await sealed(owner, LINES);
  await feedAll(batch);
  const clocks = new Clocks();
  const realm = new PlayedRealm(certainty === 'idempotent', (index) => batch.row(index).order, clocks);
  const lossy = new Lossy(owner.scripts.redis);
  const scripts = new ScriptClient(lossy.redis, 10_000, () => {});
  const start = () => Sender.start(openLedger(scripts, owner.realm), batch, certainty, folder, realm, clocks);
  for (let i = 0; i < SENDERS; i++) senders.push(await start());
  // The last to merge arms; the others learn of it at their next look.
  for (const one of [...senders, ...senders]) await one.recover();
  const photographs = [await photograph(owner)];
  // Orders whose outcome somebody could not know: only these may end in doubt.
  const ambiguous = new Set<number>();

  const revive = async (i: number): Promise<Sender> => {
    const found = senders[i];
    if (found?.alive === true) return found;
    const fresh = await start();
    senders[i] = fresh;
    await fresh.recover();
    return fresh;
  };
  for (const one of steps) {
    switch (one.do) {
      case 'begin': {
        const by = await revive(one.sender);
        const lost = by.open.map(({ index }) => index);
        await by.begin(one.index, one.crashAt, one.pausing);
        if (by.alive) break;
        for (const open of lost) ambiguous.add(open);
        // Before its intent is on disk nothing can have been sent, and the journal proves it.
        if (one.crashAt === 'intent-written') ambiguous.add(one.index);
        break;
      }
      case 'finish': {
        const by = await revive(one.sender);
        const lost = by.open.map(({ index }) => index);
        const index = await by.finish(one.fate, one.crashAt);
        if (index !== undefined && one.fate.startsWith('lost')) ambiguous.add(index);
        if (!by.alive) for (const open of lost) ambiguous.add(open);
        break;
      }
      case 'recover': {
        // The last to merge arms; the others learn of it at their next look.
        for (const i of one.sender === null ? [0, 1, 2, 0, 1, 2] : [one.sender]) {
          const by = await revive(i);
          if (await by.recover()) await by.adoptDead();
        }
        break;
      }
      case 'lose':
        lossy.losing = one.replies;
        break;
      case 'pass':
        realm.pass(one.ms);
        break;
      case 'step the clock':
        clocks.storeMs += one.ms;
        break;
      case 'meddle':
        realm.meddle(one.member);
        break;
      case 'photograph':
        photographs.push(await photograph(owner));
        break;
      case 'roll back':
        await photographs[one.to % photographs.length]?.();
        break;
    }
  }

  lossy.losing = 0;
  // The faults end: everybody answers, recovers and works off what is left.
  for (const one of senders) while (one.alive && one.open.length > 0) await one.finish('paid', null);
  for (let i = 0; i < SENDERS; i++) await revive(i);
  for (let round = 0; round < 3; round++)
    for (const one of senders) if (await one.recover()) await one.adoptDead();
  await feedAll(batch);
  const worker = senders[0];
  if (worker === undefined) throw new Error('no sender');
  expect(await worker.recover()).toBe(true);
  for (let round = 0; round < (certainty === 'readback' ? 16 : 4); round++) {
    for (let index = 1; index <= ORDERS; index++) {
      await worker.begin(index, null);
      while (worker.open.length > 0) await worker.finish('paid', null);
    }
    realm.pass(SETTLE_MS);
  }

  // While the conditions of read-back hold and the store forgets nothing, reading leaves no doubt at all.
  const unreadable = steps.some((one) => ['roll back', 'step the clock', 'meddle'].includes(one.do));
  const wrong: string[] = [];
  for (let index = 1; index <= ORDERS; index++) {
    const { code } = await readRecord(batch.ref, index);
    const applied = realm.applied.get(index) ?? 0;
    if (applied > 1) wrong.push(`${index} was applied ${applied} times`);
    if (code === 'P' && applied !== 1) wrong.push(`${index} is paid and was applied ${applied} times`);
    if ((code === 'R' || code === 'X') && applied > 0) wrong.push(`${index} is ${code} and was applied`);
    if (code === 'D' && !(ambiguous.has(index) && (certainty !== 'readback' || unreadable)))
      wrong.push(`${index} is in doubt for nothing`);
    if (!'PRXD'.includes(code)) wrong.push(`${index} has not ended: ${code}`);
  }
  wrong.push(...(await tieUp(owner)), ...(await owner.scripts.redis.keys(`${owner.keyPrefix}:hold:*`)));
  expect(wrong).toEqual([]);
}
