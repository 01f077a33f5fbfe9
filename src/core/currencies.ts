import type { RealmProfile } from './profile.js';
import { show } from './visible.js';

export const CURRENCY_ID = /^[A-Za-z0-9._:-]{1,128}$/;

type Paying = Pick<RealmProfile, 'currency' | 'currencies'>;

/** Null is the realm's own currency, which has no name. */
export function paysIn({ currency, currencies }: Paying, wanted: string | null): boolean {
  return wanted === currency || (wanted !== null && currencies.includes(wanted));
}

/** What a batch of the profile can be paid in, the one that it takes by itself first. */
export function currenciesOf({ currency, currencies }: Paying): (string | null)[] {
  return [...new Set([currency, ...currencies])];
}

/** Behind a realm or an amount; nothing is said of the realm's own. */
export function inCurrency(currency: string | null): string {
  return currency === null ? '' : `, in ${currency}`;
}

/** What a command needs beside its file to pay in that currency. */
export function currencyOption(currency: string | null): string {
  return currency === null ? '' : ` --currency ${currency}`;
}

export function currencyName(currency: string | null): string {
  return currency === null ? 'the realm’s default currency' : `currency ${show(currency)}`;
}
