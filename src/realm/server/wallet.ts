/**
 * Wallets as they are compared and kept: EVM addresses ignore case, so they are kept in lower case; base58
 * addresses and anything else are compared exactly as written.
 */
const WALLET = /^[\x21-\x7e]{1,128}$/;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

export function isWallet(text: string): boolean {
  return WALLET.test(text);
}

export function comparableWallet(text: string): string {
  return EVM_ADDRESS.test(text) ? text.toLowerCase() : text;
}
