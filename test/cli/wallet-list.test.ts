import { describe, expect, it } from 'vitest';
import { walletsIn } from '../../src/cli/commands/realm-reads.js';

describe('a list of wallets', () => {
  it('is one wallet a line, or the wallet column of a CSV', () => {
    expect(walletsIn('\ufeffwa\r\n\r\n# later\r\n wb \n')).toEqual(['wa', 'wb']);
    expect(walletsIn('wallet\nwa\n')).toEqual(['wa']);
    expect(walletsIn('member;Wallet\n1;"wa"\n2;\n3;wb\n')).toEqual(['wa', 'wb']);
    expect(walletsIn('')).toEqual([]);
  });

  it('is refused when nobody can tell which column is meant', () => {
    expect(() => walletsIn('1,wa\n2,wb\n')).toThrow('none of them is named wallet');
  });
});
