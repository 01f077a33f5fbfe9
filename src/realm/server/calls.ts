import { counted } from '../../core/counted.js';
import type { Change, RealmAccounts } from './accounts.js';
import { type Answer, invalid, ok, read, refuse } from './answer.js';
import {
  OWN_CURRENCY,
  readBody,
  readCurrency,
  readMemberId,
  readRecipient,
  readTokens,
  readWallets,
  unknownCurrency,
} from './request.js';

/** One authenticated request, independent of the web framework. A handler turns it into an answer. */
export type Call = {
  readonly realmId: string;
  /** The member id as sent in the path; empty for calls without one. */
  readonly memberText: string;
  readonly contentType: string | undefined;
  readonly bodyText: string;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
};

type Handler = (call: Call, accounts: RealmAccounts) => Promise<Answer>;

/** Call 1: a member's data. */
const getMember = memberCall((ids, { balance, others, wallets, attributes, createdAtMs }) => ({
  ...ids,
  tokenBalance: balance,
  balances: { ...others, [OWN_CURRENCY]: balance },
  wallets,
  attributes,
  createdAt: new Date(createdAtMs).toISOString(),
}));

/** Call 2: a member's web3 data. The stored facts appear unchanged beside the fields that always exist. */
const getWeb3 = memberCall((ids, { wallets, web3 }) => {
  const own = { ...ids, wallets };
  // Listed twice: first to fix the order of fields, last so that no stored fact overrides them.
  return { ...own, nfts: [], chains: [], ...web3, ...own };
});

type MemberRecord = NonNullable<Awaited<ReturnType<RealmAccounts['member']>>>;

function memberCall(
  bodyOf: (ids: { id: string; realmId: string }, record: MemberRecord) => Answer['body'],
): Handler {
  return async ({ realmId, memberText }, accounts) => {
    const member = readMemberId(memberText);
    if (!member.ok) return member.refusal;
    const record = await accounts.member(realmId, member.value);
    return record === undefined
      ? memberNotFound(member.value)
      : ok(bodyOf({ id: member.value, realmId }, record));
  };
}

/** Call 3: which of these wallets belong to members. The answer spells each wallet as the caller did. */
const checkWallets: Handler = async (call, accounts) => {
  const body = readBody(call.contentType, call.bodyText);
  if (!body.ok) return body.refusal;
  const wallets = readWallets(body.value);
  if (!wallets.ok) return wallets.refusal;
  const known = await accounts.walletsKnown(call.realmId, wallets.value);
  return ok({ wallets: Object.fromEntries(wallets.value.map((wallet, at) => [wallet, known[at] === true])) });
};

/**
 * Calls 4 and 5. Call 4 adds tokens, or subtracts them if negative. Call 5 moves points to a recipient, completely or
 * not at all.
 */
function writeCall(isTransfer: boolean): Handler {
  return async (call, accounts) => {
    const member = readMemberId(call.memberText);
    if (!member.ok) return member.refusal;
    const body = readBody(call.contentType, call.bodyText);
    if (!body.ok) return body.refusal;
    const recipient = isTransfer ? readRecipient(body.value) : read(null);
    if (!recipient.ok) return recipient.refusal;
    const tokens = readTokens(body.value, isTransfer ? 'positive' : 'signed');
    if (!tokens.ok) return tokens.refusal;
    const currency = readCurrency(body.value);
    if (!currency.ok) return currency.refusal;
    if (recipient.value === member.value)
      return invalid('A member cannot transfer points to itself.', 'recipientId');

    const { idempotencyKey, requestId } = call;
    const ends = { member: member.value, recipient: recipient.value };
    const change = { ...ends, tokens: tokens.value, currency: currency.value, idempotencyKey, requestId };
    return answerOf(await accounts.change(call.realmId, change), change);
  };
}

type WriteResult = Awaited<ReturnType<RealmAccounts['change']>>;

/** The answer to both writes. Each refusal says that nothing was changed, and clients may rely on it. */
function answerOf(result: WriteResult, { member, recipient: other, tokens, currency }: Change): Answer {
  const recipient = other ?? member;
  switch (result.kind) {
    case 'applied':
    case 'replayed': {
      const { balance: newBalance, recipientBalance } = result;
      const replayed = result.kind === 'replayed' ? { 'idempotency-replayed': 'true' } : {};
      if (recipientBalance === null) return ok({ newBalance }, replayed);
      return ok({ message: 'Ok', newBalance, recipientBalance }, replayed);
    }
    case 'unknown-member':
      return memberNotFound(member);
    case 'unknown-recipient': {
      const message = `The realm has no member ${recipient} to receive points. Nothing was changed.`;
      return refuse(404, 'recipient_not_found', message, { recipient });
    }
    case 'too-small': {
      const { balance } = result;
      const needed = Math.abs(tokens);
      const message = `Member ${member} has ${counted(balance, 'point')}, and ${needed} would be needed. Nothing was changed.`;
      return refuse(422, 'balance_too_small', message, { member, balance, needed });
    }
    case 'out-of-range': {
      const message = `The balance of member ${recipient} would leave the range of exact integers (2^53-1). Nothing was changed.`;
      return refuse(422, 'balance_out_of_range', message, { member: recipient, balance: result.balance });
    }
    case 'unknown-currency':
      return unknownCurrency(currency ?? OWN_CURRENCY, result.others);
    case 'conflict': {
      const message = 'This Idempotency-Key was used for a change with other content. Nothing was changed.';
      return refuse(422, 'idempotency_key_reused', message);
    }
  }
}

function memberNotFound(member: string): Answer {
  const message = `The realm has no member ${member}. Nothing was changed.`;
  return refuse(404, 'member_not_found', message, { member });
}

export const PREFIX = '/api/v4';

/** One call of the interface: its method, path and handler. */
export type Route = {
  readonly operationId: string;
  readonly method: 'GET' | 'PATCH';
  /** The path below the prefix; parameters are in braces, as in the OpenAPI document. */
  readonly path: string;
  readonly handle: Handler;
};

/** The whole interface. The router prefers literals, so `includes` never counts as a member id. */
export const ROUTES: readonly Route[] = [
  route('getMember', 'GET', '/members/{memberID}', getMember),
  route('getWeb3', 'GET', '/web3/members/{memberID}', getWeb3),
  route('checkWallets', 'GET', '/members/includes', checkWallets),
  route('changeBalance', 'PATCH', '/members/{memberID}/tokenBalance', writeCall(false)),
  route('transfer', 'PATCH', '/members/{memberID}/transfer', writeCall(true)),
];

function route(operationId: string, method: Route['method'], path: string, handle: Handler): Route {
  return { operationId, method, path: `/realms/{realmID}${path}`, handle };
}
