import { ok } from '../answer.js';
import { type Handler, memberNotFound, readMemberId } from '../call.js';

/** Call 2: a member's web3 data. The stored facts are shown as they are, beside the fields that always exist. */
export const getWeb3: Handler = async (call, ledger) => {
  const member = readMemberId(call);
  if (!member.ok) return member.refusal;
  const record = await ledger.member(call.realmId, member.value);
  if (record === undefined) return memberNotFound(member.value);
  const own = { id: member.value, realmId: call.realmId, wallets: record.wallets };
  // Named twice: first for their place, last so that no stored fact can pass for them.
  return ok({ ...own, nfts: [], chains: [], ...record.web3, ...own });
};
