import type { WalletVerdicts } from './wallet-reply.js';

/**
 * Checks any number of wallets in requests of `chunk` each, one after the other. `beforeRequest` is where
 * the caller paces; with a client that paces its own reads it is not needed.
 */
export async function checkWallets(
  client: { wallets(list: readonly string[]): Promise<WalletVerdicts> },
  wallets: readonly string[],
  options: { readonly chunk: number; readonly beforeRequest?: () => Promise<void> },
): Promise<WalletVerdicts> {
  const distinct = [...new Set(wallets)];
  const verdicts: WalletVerdicts = new Map();
  for (let start = 0; start < distinct.length; start += options.chunk) {
    await options.beforeRequest?.();
    const part = await client.wallets(distinct.slice(start, start + options.chunk));
    for (const [wallet, verdict] of part) verdicts.set(wallet, verdict);
  }
  return verdicts;
}
