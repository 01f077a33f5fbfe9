import { ok } from '../answer.js';
import { type Handler, memberNotFound, readMemberId } from '../call.js';
import { CURRENCY, readBody, readWallets } from '../request-body.js';

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

/** Call 3: which of these wallets belong to members. Answered under the spelling the caller used. */
export const checkWallets: Handler = async (call, ledger) => {
  const body = readBody(call.contentType, call.bodyText);
  if (!body.ok) return body.refusal;
  const wallets = readWallets(body.value);
  if (!wallets.ok) return wallets.refusal;
  const known = await ledger.walletsKnown(call.realmId, wallets.value);
  return ok({ wallets: Object.fromEntries(wallets.value.map((wallet, at) => [wallet, known[at] === true])) });
};

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
