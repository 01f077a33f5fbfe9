const WALLET = /^[\x21-\x7e]{1,128}$/;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

export function isWallet(text: string): boolean {
  return WALLET.test(text);
}

/** The one spelling under which a wallet is compared: EVM addresses ignore case, base58 ones do not. */
export function comparableWallet(text: string): string {
  return EVM_ADDRESS.test(text) ? text.toLowerCase() : text;
}
