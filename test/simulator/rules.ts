import { type MemberId, memberId, type OrderId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import { accountName, awardReference } from '../../src/core/reference.js';
import { heldOf } from '../../src/ledger/accounts.js';
import type { SealedRun } from '../../src/ledger/moves/import-batch.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { alreadyAwarded } from '../../src/rules/awards.js';
import { runNumber } from '../../src/rules/run-store.js';
import { type Given, type Row, rowsGiven } from './sheet.js';

/**
 * A rule that rewards each member once in its period, as long as the period's limit lasts. The award follows from the
 * member's balance, which payments change: a repeated run makes other orders.
 */
const RULE = 'loyal';
const PERIOD = '2026-07';
const AWARD_MOST = 7;

function awardOf(balance: bigint): number {
  return 1 + Number(((balance % 7n) + 7n) % 7n);
}

/** The period's limit: a few members get nothing. */
export function ruleLimit(members: number): number {
  return AWARD_MOST * Math.ceil(members * 0.6);
}

/** The rule's awards to these members: those without a reward in this period, up to its limit. */
export async function planRule(
  ledger: RealmLedger,
  members: readonly number[],
  balanceOf: (member: MemberId) => bigint,
  limit: number,
): Promise<Given> {
  const rows = members.map((member) => ({ member: memberId(String(member)), line: 0, cells: [] }));
  const awarded = await alreadyAwarded(ledger, RULE, PERIOD, [rows]);
  const room = limit - Number(await heldOf(ledger, accountName(RULE, PERIOD)));
  const chosen = rows
    .filter(({ member }) => !awarded.has(member))
    .slice(0, Math.max(0, Math.floor(room / AWARD_MOST)));
  const run = { rule: RULE, period: PERIOD, scheduled: false, at: 0, number: null, batch: null };
  return rowsGiven(
    chosen.map(({ member }): Row => {
      const reference = awardReference(RULE, PERIOD, member);
      const order = {
        op: 'credit',
        member,
        recipient: null,
        tokens: tokens(awardOf(balanceOf(member))),
      } as const;
      return { order, reference, replaces: null, intention: reference, undoes: null };
    }),
    { run: await runNumber(ledger, run) },
  );
}

/** What the seal records of the run. */
export function sealedRun(number: number, limit: number): SealedRun {
  const account = accountName(RULE, PERIOD);
  return { account, limit, number, id: `run${number}`, record: '{}', schedule: null };
}

/** Replays the realm's log: the period's payments must never pass its limit. */
export function passesLimit(
  applied: readonly OrderId[],
  rowOf: (id: OrderId) => Row | undefined,
  limit: number,
): boolean {
  let paid = 0;
  return applied.some((id) => {
    const row = rowOf(id);
    const root = row?.undoes ?? row?.intention;
    const moved = Number(row?.order.tokens ?? 0);
    if (root?.startsWith('rule:') === true) paid += row?.undoes === null ? moved : -moved;
    return paid > limit;
  });
}
