import { currenciesOf, paysIn } from './currencies.js';
import { CERTAINTIES, type Certainty, type RealmProfile } from './profile.js';

/**
 * What was confirmed is what is sent. A batch is sealed with the terms of its realm's profile; a profile that
 * is edited afterwards can only make it more careful. Another address, realm or currency would make every
 * order another one: then the batch stands still until the profile is as it was, or it is cancelled.
 */
type Profile = SealedTerms & Pick<RealmProfile, 'currencies'>;

/** The terms as the manifest holds them. */
export type SealedTerms = Pick<
  RealmProfile,
  'baseUrl' | 'realmId' | 'currency' | 'certainty' | 'keyLifetimeMs'
>;

/** The terms by which an order of the batch is sent and its unknown outcome resolved. */
export type Terms = Pick<RealmProfile, 'currency' | 'certainty' | 'keyLifetimeMs'>;

export function termsOf(sealed: SealedTerms, profile: SealedTerms): Terms {
  return {
    currency: sealed.currency,
    certainty: stricter(sealed.certainty, profile.certainty),
    keyLifetimeMs: Math.min(sealed.keyLifetimeMs, profile.keyLifetimeMs),
  };
}

/** CERTAINTIES is in the order of what they ask of the evidence. */
function stricter(one: Certainty, other: Certainty): Certainty {
  return CERTAINTIES.indexOf(one) > CERTAINTIES.indexOf(other) ? one : other;
}

export type TermsChange = {
  readonly what: 'address' | 'realm' | 'currency';
  readonly sealed: string;
  readonly now: string;
};

const DEFAULT = 'the realm’s default';

/** What keeps the profile from working the batch; null where nothing does. */
export function changeOf(sealed: SealedTerms, profile: Profile): TermsChange | null {
  if (sealed.baseUrl !== profile.baseUrl)
    return { what: 'address', sealed: sealed.baseUrl, now: profile.baseUrl };
  if (sealed.realmId !== profile.realmId)
    return { what: 'realm', sealed: sealed.realmId, now: profile.realmId };
  if (!paysIn(profile, sealed.currency)) {
    const now = currenciesOf(profile).map((currency) => currency ?? DEFAULT);
    return { what: 'currency', sealed: sealed.currency ?? DEFAULT, now: now.join(', ') };
  }
  return null;
}
