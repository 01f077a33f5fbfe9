import { invalid, ok, refuse } from '../answer.js';
import { type Handler, memberNotFound, readMemberId } from '../call.js';
import { readBody, readCurrency, readRecipient, readTokens } from '../request-body.js';
import { keyReused, outOfRange, REPLAYED, tooSmall } from './write-answers.js';

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
