import { ok } from '../answer.js';
import { type Handler, memberNotFound, readMemberId } from '../call.js';
import { CURRENCY } from '../request-body.js';

/** Call 1: a member's data. */
export const getMember: Handler = async (call, ledger) => {
  const member = readMemberId(call);
  if (!member.ok) return member.refusal;
  const record = await ledger.member(call.realmId, member.value);
  if (record === undefined) return memberNotFound(member.value);
  return ok({
    id: member.value,
    realmId: call.realmId,
    tokenBalance: record.balance,
    balances: { [CURRENCY]: record.balance },
    wallets: record.wallets,
    attributes: record.attributes,
    createdAt: new Date(record.createdAtMs).toISOString(),
  });
};
