import { ok } from '../answer.js';
import type { Handler } from '../call.js';
import { readBody, readWallets } from '../request-body.js';

/** Call 3: which of these wallets belong to members. Answered under the spelling the caller used. */
export const checkWallets: Handler = async (call, ledger) => {
  const body = readBody(call.contentType, call.bodyText);
  if (!body.ok) return body.refusal;
  const wallets = readWallets(body.value);
  if (!wallets.ok) return wallets.refusal;
  const known = await ledger.walletsKnown(call.realmId, wallets.value);
  return ok({ wallets: Object.fromEntries(wallets.value.map((wallet, at) => [wallet, known[at] === true])) });
};
