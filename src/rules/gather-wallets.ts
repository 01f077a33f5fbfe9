import type { WalletVerdict } from '../realm/client/wallet-reply.js';
import type { GatherOptions } from './gather-facts.js';

const field = (wallet: string) => `v:${wallet}`;
const VERDICTS: readonly WalletVerdict[] = ['member', 'not-member', 'undetermined'];

/** Asks the realm about wallets, so many at once as the profile says; what it did not say is asked again later. */
export async function gatherWallets(
  wallets: ReadonlySet<string>,
  chunk: number,
  { reads, facts, stop, onRead }: GatherOptions,
): Promise<(wallet: string) => WalletVerdict> {
  const open = [...wallets].filter((wallet) => !facts.known.has(field(wallet)));
  const silent = new Set<string>();
  for (let start = 0; start < open.length && !stop.aborted; start += chunk) {
    const asked = open.slice(start, start + chunk);
    const verdicts = await reads.wallets(asked);
    onRead();
    for (const wallet of asked) {
      const verdict = verdicts.get(wallet) ?? 'undetermined';
      if (verdict === 'undetermined') silent.add(wallet);
      else await facts.keep(field(wallet), verdict);
    }
  }
  return (wallet) => {
    const known = VERDICTS.find((verdict) => verdict === facts.known.get(field(wallet)));
    return silent.has(wallet) ? 'undetermined' : (known ?? 'undetermined');
  };
}
