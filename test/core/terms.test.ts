import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CERTAINTIES } from '../../src/core/profile.js';
import { changeOf, type SealedTerms, termsOf } from '../../src/core/terms.js';
import { testProfile } from '../support/ledger/realm-profile.js';

const profile = testProfile({ currency: 'gold', certainty: 'readback', keyLifetimeMs: 60_000 });
const seal = (changes: Partial<SealedTerms> = {}): SealedTerms => ({
  baseUrl: profile.baseUrl,
  realmId: profile.realmId,
  currency: 'gold',
  certainty: 'readback',
  keyLifetimeMs: 60_000,
  ...changes,
});

describe('the terms of a sealed batch', () => {
  it('are those of the seal while the profile is as it was', () => {
    expect(changeOf(seal(), profile)).toBeNull();
    expect(termsOf(seal(), profile)).toEqual({
      currency: 'gold',
      certainty: 'readback',
      keyLifetimeMs: 60_000,
    });
  });

  it.each([
    ['manual', 'idempotent', 'manual'],
    ['idempotent', 'manual', 'manual'],
    ['idempotent', 'readback', 'readback'],
    ['readback', 'idempotent', 'readback'],
    ['manual', 'readback', 'manual'],
  ] as const)('sealed %s and now %s: %s counts', (sealed, now, counts) => {
    expect(termsOf(seal({ certainty: sealed }), { ...profile, certainty: now }).certainty).toBe(counts);
    expect(changeOf(seal({ certainty: sealed }), { ...profile, certainty: now })).toBeNull();
  });

  it('never trust a key for longer than either says', () => {
    const lifetime = (sealed: number, now: number) =>
      termsOf(seal({ keyLifetimeMs: sealed }), { ...profile, keyLifetimeMs: now }).keyLifetimeMs;
    expect([lifetime(10, 20), lifetime(20, 10)]).toEqual([10, 10]);
  });

  it('keep the currency of the seal, whatever the profile says', () => {
    fc.assert(
      fc.property(
        fc.option(fc.string()),
        fc.option(fc.string()),
        fc.constantFrom(...CERTAINTIES),
        (sealed, now, certainty) => {
          expect(termsOf(seal({ currency: sealed }), { ...profile, currency: now, certainty }).currency).toBe(
            sealed,
          );
        },
      ),
    );
  });

  it('fit every currency that the profile lists, and no other', () => {
    const both = { ...profile, currency: null, currencies: ['gold', 'gems'] };
    for (const currency of [null, 'gold', 'gems']) expect(changeOf(seal({ currency }), both)).toBeNull();
    expect(changeOf(seal({ currency: 'silver' }), both)).toEqual({
      what: 'currency',
      sealed: 'silver',
      now: 'the realm’s default, gold, gems',
    });
  });

  it('name what differs and both values', () => {
    expect(changeOf(seal(), { ...profile, currency: 'gems' })).toEqual({
      what: 'currency',
      sealed: 'gold',
      now: 'gems',
    });
    expect(changeOf(seal(), { ...profile, currency: null })).toMatchObject({
      what: 'currency',
      now: 'the realm’s default',
    });
    expect(changeOf(seal({ currency: null }), profile)).toMatchObject({
      what: 'currency',
      sealed: 'the realm’s default',
    });
    expect(changeOf(seal(), { ...profile, realmId: 'other' })).toMatchObject({ what: 'realm' });
    expect(changeOf(seal(), { ...profile, baseUrl: 'https://new.example', currency: 'gems' })).toEqual({
      what: 'address',
      sealed: profile.baseUrl,
      now: 'https://new.example',
    });
  });
});
