import { currenciesOf, currencyName, paysIn } from '../../core/currencies.js';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';

/** The profile as one batch or one rule pays by it; null: nothing was chosen, so that it is the profile's own. */
export function payingChosen(profile: RealmProfile, chosen: string | null): RealmProfile {
  return chosen === null ? profile : payingIn(profile, chosen);
}

/** The same in a currency that was settled before; null: the realm's own. */
export function payingIn(profile: RealmProfile, currency: string | null): RealmProfile {
  if (paysIn(profile, currency)) return { ...profile, currency };
  const listed = currenciesOf(profile).map(currencyName).join(', ');
  throw new AlmonerError(
    'ALM_PLAN_CURRENCY',
    `The profile ${profile.name} pays in ${listed}, and not in ${currencyName(currency)}. Nothing was done.`,
  );
}
