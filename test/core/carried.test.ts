import { expect, test } from 'vitest';
import { AlmonerError, arrived, type Carried, carry } from '../../src/core/errors/error.js';

/** As it comes out at the other end of a thread. */
async function across<T>(work: () => T): Promise<T> {
  const carried: Carried<T> = structuredClone(await carry(work));
  return arrived(carried);
}

test('values, refusals and bugs of another thread are what they were there', async () => {
  expect(await across(() => ({ tokens: 5n }))).toEqual({ tokens: 5n });
  const refusal = new AlmonerError('ALM_RULE_OVER_LIMIT', 'Too much.', { next: 'Less.', details: ['a'] });
  const refused = across(() => {
    throw refusal;
  });
  await expect(refused).rejects.toBeInstanceOf(AlmonerError);
  await expect(refused).rejects.toMatchObject({
    code: 'ALM_RULE_OVER_LIMIT',
    message: 'Too much.',
    next: 'Less.',
    details: ['a'],
  });
  const bug = across(() => {
    throw new TypeError('x is not a function');
  });
  await expect(bug).rejects.toThrow(/x is not a function/);
  await expect(bug).rejects.not.toBeInstanceOf(AlmonerError);
});
