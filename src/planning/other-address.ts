import { AlmonerError } from '../core/errors/error.js';
import type { Finding } from '../csv/row.js';
import {
  acceptAddresses,
  announceAddress,
  type EarlierAddress,
  earlierAddresses,
  type RealmLedger,
} from '../ledger/index.js';
import { utcMinute } from '../words/spelling.js';

/** What a plan says of a realm that was paid under another address: a fault, unless the new one is meant. */
export function addressFinding(
  { realm }: RealmLedger,
  earlier: readonly EarlierAddress[],
  newRowsOnly = false,
): Pick<Finding, 'line' | 'column' | 'code' | 'message'> {
  const places = earlier.map(
    ({ baseUrl, paid, open, tokens, lastAt }) =>
      `${baseUrl} (${[
        `${paid} orders paid, ${tokens} tokens`,
        ...(open === 0 ? [] : [`${open} that may still be`]),
        ...(lastAt === null ? [] : [`last on ${utcMinute(lastAt)}`]),
      ].join('; ')})`,
  );
  return {
    line: 0,
    column: null,
    code: 'ALM_PLAN_OTHER_ADDRESS',
    message: `Realm ${realm.realmId} was paid before under another address: ${places.join(', ')}. The books of ${realm.baseUrl} know nothing of that: whatever was paid there would be paid again.${newRowsOnly ? ' Nor does --new-rows-only know which rows those are: take the rows of paid.csv of its reports out of the file yourself, and give it with --new-address alone.' : ''}`,
  };
}

/** What the audit says of a new address that is meant. */
export function whyMoved(earlier: readonly EarlierAddress[]): string[] {
  return earlier.map(({ baseUrl }) => `new address: the realm was paid before at ${baseUrl}`);
}

/**
 * The gate that every batch passes before its seal, however it was planned and however long ago, and every dead letter
 * before it is retried: addresses that the person has seen are noted, any other stops it. The seal and the retry are at
 * a number that was read before (see announceAddress).
 */
export async function passAddresses(
  ledger: RealmLedger,
  seen: readonly EarlierAddress[],
  by: { readonly who: string; readonly at: number },
): Promise<void> {
  await announceAddress(ledger);
  const unseen = (await earlierAddresses(ledger)).filter(
    ({ baseUrl }) => !seen.some((address) => address.baseUrl === baseUrl),
  );
  refuseAddresses(ledger, unseen);
  await acceptAddresses(ledger, seen, by);
}

export function refuseAddresses(ledger: RealmLedger, earlier: readonly EarlierAddress[]): void {
  if (earlier.length === 0) return;
  const { code, message } = addressFinding(ledger, earlier);
  throw new AlmonerError(code, `${message} Nothing was enqueued and nothing was sent.`);
}
