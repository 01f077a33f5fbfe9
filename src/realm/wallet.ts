const WALLET = /^[\x21-\x7e]{1,128}$/;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

/** True for printable ASCII of at most 128 characters. The realm decides whether the wallet exists. */
export function isWallet(text: string): boolean {
  return WALLET.test(text);
}

/** Normalizes a wallet for comparison: EVM addresses ignore case, base58 addresses do not. */
export function comparableWallet(text: string): string {
  return EVM_ADDRESS.test(text) ? text.toLowerCase() : text;
}
