import { describe, expect, it } from 'vitest';
import { decodeWalletReply } from '../../../src/realm/client/wallet-reply.js';

const EVM = `0x${'aB'.repeat(20)}`;
const OTHER = `0x${'12'.repeat(20)}`;
const BASE58 = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';

const verdicts = (reply: unknown, asked: readonly string[]) => [...decodeWalletReply(reply, asked).values()];

describe('a wallet reply', () => {
  it('may be a boolean: true for the whole list, false only for a list of one', () => {
    expect(verdicts(true, [EVM, OTHER])).toEqual(['member', 'member']);
    expect(verdicts(false, [EVM])).toEqual(['not-member']);
    expect(verdicts(false, [EVM, OTHER])).toEqual(['undetermined', 'undetermined']);
  });

  it('may be a map; EVM addresses are compared without regard to case, base58 ones exactly', () => {
    const reply = { [EVM.toLowerCase()]: true, [OTHER]: false, [BASE58.toLowerCase()]: true };
    expect(verdicts(reply, [EVM, OTHER, BASE58])).toEqual(['member', 'not-member', 'undetermined']);
  });

  it('may be a list of matches, as texts or objects', () => {
    expect(verdicts([EVM.toLowerCase()], [EVM, OTHER])).toEqual(['member', 'not-member']);
    expect(verdicts([{ address: EVM, userId: 1 }], [EVM, BASE58])).toEqual(['member', 'not-member']);
    expect(verdicts([{ wallet: EVM, included: false }], [EVM])).toEqual(['not-member']);
    expect(verdicts([], [EVM])).toEqual(['not-member']);
    expect(verdicts([EVM], [EVM, EVM.toLowerCase()])).toEqual(['member', 'member']);
  });

  it('says nothing about the others in a list with entries that were not understood', () => {
    expect(verdicts([EVM, 'somebody'], [EVM, OTHER])).toEqual(['member', 'undetermined']);
    expect(verdicts([1, 2], [EVM])).toEqual(['undetermined']);
  });

  it('may stand inside an object', () => {
    expect(verdicts({ includes: true }, [EVM])).toEqual(['member']);
    expect(verdicts({ data: { matches: [EVM] } }, [EVM, OTHER])).toEqual(['member', 'not-member']);
    expect(verdicts({ result: { [EVM]: true } }, [EVM])).toEqual(['member']);
    expect(verdicts({ wallets: [EVM], includes: false }, [EVM])).toEqual(['not-member']);
  });

  it('is undetermined in every other shape', () => {
    for (const reply of [
      null,
      'yes',
      {},
      { success: true },
      { missing: [EVM] },
      { includes: 'some', wallets: [EVM] },
    ])
      expect(verdicts(reply, [EVM])).toEqual(['undetermined']);
  });
});
