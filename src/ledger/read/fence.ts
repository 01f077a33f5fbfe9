import { z } from 'zod';
import type { Highest } from '../journal/folder.js';
import { askRealm, askScript, type RealmLedger } from '../realm-ledger.js';
import { decodeReason, type Reason } from '../views.js';

/** The fence as TypeScript sees it; includes/fence.lua tells what it is for. */

export type Fence = {
  readonly run: string;
  readonly armed: boolean;
  /** It was closed because something was forgotten. A store that merely restarts keeps the mark of the server before. */
  readonly lowered: boolean;
  /** Nothing was ever sent from this ledger, as far as it knows. */
  readonly untouched: boolean;
  readonly era: string;
  readonly seq: number;
  /** The sequence that the store had when it came back, before the journals put anything back. */
  readonly found: number;
  /** Why it stays disarmed until a person acts; null while recovery is still at it. */
  readonly reason: Reason | null;
  readonly rollback: Rollback | null;
  /** An operator gave the asking session up as lost: it must not send any more. */
  readonly lost: boolean;
  /** What somebody found that no journal tells any more, per era; nobody arms before a person has accepted it. */
  readonly missed: Highest;
  /** The identity of the data folder that the store was written in; empty where the store is another one. */
  readonly folder: string;
  /** The other folders beside which a person has said that this ledger is meant; null where nobody did. */
  readonly meantBeside: readonly string[] | null;
  /** The sequence of the last order that the asking session began; null where the store does not know the session. */
  readonly begun: number | null;
  /** A backup was put back, and the ledger was not opened since. */
  readonly restored: boolean;
};

export const missed = z.record(z.string(), z.number());

const meantNote = z.object({ others: z.array(z.string()).readonly() });

/** The last time that the store was found to have forgotten something. */
const rollback = z.object({
  at: z.number(),
  seen: z.number(),
  found: z.number(),
  by: z.string(),
  /** Found by what the journals knew and it did not, where answers under way had overtaken the sequence. */
  attempts: z.number().optional(),
});

export type Rollback = z.infer<typeof rollback>;

export async function readFence(ledger: RealmLedger): Promise<Fence> {
  const [
    run = '',
    armed = '',
    era = '',
    seq = '',
    reason = '',
    note = '',
    lost = '',
    gap = '',
    found = '0',
    folder = '',
    meant = '',
    begun = '',
    restored = '',
  ] = await askScript(ledger, 'fence', [ledger.mark.session]);
  const untouched = armed === '' && era === '' && seq === '';
  return {
    run,
    armed: armed === run,
    lowered: armed === '' && !untouched,
    untouched,
    era,
    seq: Number(seq),
    found: Number(found),
    reason: decodeReason(reason),
    rollback: note === '' ? null : rollback.parse(JSON.parse(note)),
    lost: lost !== '',
    missed: gap === '' ? {} : missed.parse(JSON.parse(gap)),
    folder,
    meantBeside: meant === '' ? null : meantNote.parse(JSON.parse(meant)).others,
    begun: begun === '' ? null : Number(begun),
    restored: restored !== '',
  };
}

/** Whether the store remembers all that a session knew of it before it asked (includes/fence.lua). */
export function isCurrent(fence: Fence, { era, seen, begun }: RealmLedger['mark']): boolean {
  return (
    fence.armed && fence.era === era && fence.seq >= seen && fence.begun !== null && fence.begun >= begun
  );
}

/** The epochs that this ledger knows: every opening has one of its own. */
export async function erasOf(ledger: RealmLedger): Promise<ReadonlySet<string>> {
  const lines = await askRealm(ledger, 'list eras', (redis, T) => redis.lrange(`${T}:eras`, 0, -1));
  return new Set(lines.map((line) => line.split(' ')[0] ?? ''));
}

/** The store as it is, for what is concluded from it and written later (includes/fence.lua: isSameStore). */
export function storeSeen({ run, seq, armed, era }: Pick<Fence, 'run' | 'seq' | 'armed' | 'era'>): string {
  return `${run} ${seq} ${armed ? era : ''}`.trimEnd();
}
