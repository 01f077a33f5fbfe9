import { counted } from '../../core/counted.js';
import { AlmonerError } from '../../core/errors/error.js';
import { isMemberId } from '../../core/ids.js';
import { effectsOf } from '../../core/order.js';
import { planning } from '../../ledger/index.js';
import type { Plan } from '../../planning/plan.js';
import type { OpenRealm } from '../../runtime/app.js';
import { type PacedReads, pacedReads } from '../../runtime/paced-reads.js';

/** Reads every member of a plan at the realm's pace: who is not found, whose balance is too small. */
export async function checkMembers(
  realm: OpenRealm,
  plan: Plan,
  onRead: (read: number, of: number) => void,
): Promise<void> {
  const members = outgoing(plan);
  const reads = pacedReads(realm, plan.currency);
  await checkWallets(reads, plan);
  let read = 0;
  for (const [member, { line, takes, gains }] of members) {
    if (!isMemberId(member)) continue;
    const record = await reads.member(member).catch(unlessUnknown);
    read += 1;
    onRead(read, members.size);
    const finding = { line, column: null };
    if (record === null) {
      plan.findings.fault({
        ...finding,
        code: 'ALM_PLAN_MEMBER_NOT_FOUND',
        message: `The realm does not know member ${member}.`,
      });
    } else if (record.balance !== null && BigInt(record.balance) + gains < takes) {
      const message = `Member ${member} has ${counted(record.balance, 'token')}; the file takes ${takes}${gains > 0n ? ` and gives ${gains}` : ''}.`;
      plan.findings.fault({ ...finding, code: 'ALM_PLAN_BALANCE_TOO_SMALL', message });
    }
  }
}

/** Wallets of a table: the realm says whether they are of members, and not of which. */
async function checkWallets(reads: PacedReads, { table, findings }: Plan): Promise<void> {
  if (table === null || table.wallets.size === 0) return;
  const verdicts = await reads.wallets([...table.wallets.keys()]);
  for (const [wallet, { member, line }] of table.wallets) {
    const verdict = verdicts.get(wallet) ?? 'undetermined';
    if (verdict === 'member') continue;
    const message = `The realm ${verdict === 'not-member' ? 'has no member with' : 'does not say whether a member has'} the wallet ${wallet}, which ${table.name} gives to ${member} on line ${line}.`;
    const finding = { line: 0, column: null, code: 'ALM_PLAN_WALLET_NOT_FOUND', message } as const;
    if (verdict === 'not-member') findings.fault(finding);
    else findings.warning(finding);
  }
}

/** A member whom the realm does not know is a finding; whatever else fails ends the check. */
function unlessUnknown(error: unknown): null {
  if (error instanceof AlmonerError && error.code === 'ALM_REALM_MEMBER_NOT_FOUND') return null;
  throw error;
}

function outgoing(plan: Plan): Map<string, { line: number; takes: bigint; gains: bigint }> {
  const members = new Map<string, { line: number; takes: bigint; gains: bigint }>();
  for (const bytes of plan.blocks)
    for (const { order, line, duplicateOf } of planning.blocks.decode(bytes)) {
      if (order === null || duplicateOf !== null) continue;
      for (const { member, delta } of effectsOf(order)) {
        const entry = members.get(member) ?? { line, takes: 0n, gains: 0n };
        if (delta < 0n) entry.takes -= delta;
        else entry.gains += delta;
        members.set(member, entry);
      }
    }
  return members;
}
