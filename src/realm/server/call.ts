import { isMemberId } from '../../core/ids.js';
import { type Answer, type Read, read, refuse, unreadable } from './answer.js';
import type { RealmAccounts } from './books.js';

/** One authenticated request, free of the web framework: handlers turn it into an answer. */
export type Call = {
  readonly realmId: string;
  /** The path segment as sent; empty where the call has none. */
  readonly memberText: string;
  readonly contentType: string | undefined;
  readonly bodyText: string;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
};

export type Handler = (call: Call, ledger: RealmAccounts, maxTokens: number) => Promise<Answer>;

export function readMemberId(call: Call): Read<string> {
  if (isMemberId(call.memberText)) return read(call.memberText);
  const got = JSON.stringify(call.memberText.slice(0, 40));
  return unreadable(`The member id in the path must be 1 to 20 decimal digits, got ${got}.`, 'memberID');
}

export function memberNotFound(member: string): Answer {
  return refuse(404, 'member_not_found', `The realm has no member ${member}. Nothing was changed.`, {
    member,
  });
}
