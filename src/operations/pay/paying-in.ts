import { currenciesOf, currencyName, paysIn } from '../../core/currencies.js';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { show } from '../../core/visible.js';

/** The profile as one batch or one rule pays by it: in the currency that was chosen; null: in its own. */
export function payingIn(profile: RealmProfile, chosen: string | null): RealmProfile {
  if (chosen === null) return profile;
  if (paysIn(profile, chosen)) return { ...profile, currency: chosen };
  const listed = currenciesOf(profile).map(currencyName).join(', ');
  throw new AlmonerError(
    'ALM_PLAN_CURRENCY',
    `The profile ${profile.name} pays in ${listed}; currency ${show(chosen)} was chosen. Nothing was done.`,
  );
}
