import type { RealmProfile } from './profile.js';
import { show } from './visible.js';

export const CURRENCY_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The part of a profile that says in which currencies it pays. */
type Paying = Pick<RealmProfile, 'currency' | 'currencies'>;

/** True if the profile pays in the currency. Null stands for the realm's own currency, which has no name. */
export function paysIn({ currency, currencies }: Paying, wanted: string | null): boolean {
  return wanted === currency || (wanted !== null && currencies.includes(wanted));
}

/** The currencies in which the profile can pay. The default one comes first. */
export function currenciesOf({ currency, currencies }: Paying): (string | null)[] {
  return [...new Set([currency, ...currencies])];
}

/** Suffix for a realm or an amount; empty for the realm's own currency. */
export function inCurrency(currency: string | null): string {
  return currency === null ? '' : `, in ${currency}`;
}

/** The command-line option that chooses the currency; empty for the realm's own. */
export function currencyOption(currency: string | null): string {
  return currency === null ? '' : ` --currency ${currency}`;
}

/** Names the currency within a sentence. */
export function currencyName(currency: string | null): string {
  return currency === null ? 'the realm’s default currency' : `currency ${show(currency)}`;
}
