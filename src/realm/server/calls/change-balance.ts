import { ok } from '../answer.js';
import { type Handler, memberNotFound, readMemberId } from '../call.js';
import { readBody, readCurrency, readTokens } from '../request-body.js';
import { keyReused, outOfRange, REPLAYED, tooSmall } from './write-answers.js';

/** Call 4: adds (positive tokens) or subtracts (negative tokens). */
export const changeBalance: Handler = async (call, ledger, maxTokens) => {
  const member = readMemberId(call);
  if (!member.ok) return member.refusal;
  const body = readBody(call.contentType, call.bodyText);
  if (!body.ok) return body.refusal;
  const tokens = readTokens(body.value, 'signed', maxTokens);
  if (!tokens.ok) return tokens.refusal;
  const currency = readCurrency(body.value);
  if (!currency.ok) return currency.refusal;

  const { idempotencyKey, requestId } = call;
  const change = { member: member.value, tokens: tokens.value, idempotencyKey, requestId };
  const result = await ledger.change(call.realmId, change);
  switch (result.kind) {
    case 'applied':
      return ok({ newBalance: result.balance });
    case 'replayed':
      return ok({ newBalance: result.balance }, REPLAYED);
    case 'unknown-member':
      return memberNotFound(member.value);
    case 'too-small':
      return tooSmall(member.value, result.balance, -tokens.value);
    case 'out-of-range':
      return outOfRange(member.value, result.balance);
    case 'conflict':
      return keyReused();
  }
};
