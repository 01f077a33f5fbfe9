import { type Answer, invalid, ok, refuse } from '../answer.js';
import { type Handler, memberNotFound, readMemberId } from '../call.js';
import { readBody, readCurrency, readRecipient, readTokens } from '../request-body.js';

/** Answers that both write calls give. Each says that nothing was changed: a client may rely on it. */

export const REPLAYED = { 'idempotency-replayed': 'true' };

export function tooSmall(member: string, balance: number, needed: number): Answer {
  const message = `Member ${member} has ${balance} points, ${needed} are needed. Nothing was changed.`;
  return refuse(422, 'balance_too_small', message, { member, balance, needed });
}

export function outOfRange(member: string, balance: number): Answer {
  const message = `The balance of member ${member} would leave the range of exact integers (2^53-1). Nothing was changed.`;
  return refuse(422, 'balance_out_of_range', message, { member, balance });
}

export function keyReused(): Answer {
  return refuse(
    422,
    'idempotency_key_reused',
    'This Idempotency-Key was used for a change with other content. Nothing was changed.',
  );
}

export function keyRunning(): Answer {
  return refuse(
    409,
    'idempotency_key_running',
    'A request with this Idempotency-Key is still running. Ask again with the same key to get its answer.',
    undefined,
    { 'retry-after': '1' },
  );
}

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

/** Call 5: moves points from the member in the path to the recipient, whole or not at all. */
export const transfer: Handler = async (call, ledger, maxTokens) => {
  const member = readMemberId(call);
  if (!member.ok) return member.refusal;
  const body = readBody(call.contentType, call.bodyText);
  if (!body.ok) return body.refusal;
  const recipient = readRecipient(body.value);
  if (!recipient.ok) return recipient.refusal;
  const tokens = readTokens(body.value, 'positive', maxTokens);
  if (!tokens.ok) return tokens.refusal;
  const currency = readCurrency(body.value);
  if (!currency.ok) return currency.refusal;
  if (recipient.value === member.value) {
    return invalid('A member cannot transfer points to itself.', 'recipientId');
  }

  const { idempotencyKey, requestId } = call;
  const ends = { member: member.value, recipient: recipient.value };
  const result = await ledger.transfer(call.realmId, {
    ...ends,
    tokens: tokens.value,
    idempotencyKey,
    requestId,
  });
  switch (result.kind) {
    case 'applied':
      return ok(moved(result));
    case 'replayed':
      return ok(moved(result), REPLAYED);
    case 'unknown-member':
      return memberNotFound(ends.member);
    case 'unknown-recipient':
      return refuse(
        404,
        'recipient_not_found',
        `The realm has no member ${ends.recipient} to receive points. Nothing was changed.`,
        { recipient: ends.recipient },
      );
    case 'too-small':
      return tooSmall(ends.member, result.balance, tokens.value);
    case 'out-of-range':
      return outOfRange(ends.recipient, result.balance);
    case 'conflict':
      return keyReused();
  }
};

function moved(result: { balance: number; recipientBalance: number }) {
  return { message: 'Ok', newBalance: result.balance, recipientBalance: result.recipientBalance };
}
