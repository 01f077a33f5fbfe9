import type { MemberId } from '../core/ids.js';
import { type Answer, Pace } from '../queue/pace.js';
import type { MemberRecord, Web3Record } from '../realm/client/client.js';
import { readWithRetries } from '../realm/client/read-result.js';
import type { WalletVerdicts } from '../realm/client/wallet-reply.js';
import type { OpenRealm } from './app.js';

/** The reads of a realm at its pace: each request, retries included, takes a slot that all processes share. */
export type PacedReads = {
  member(id: MemberId): Promise<MemberRecord>;
  web3(id: MemberId): Promise<Web3Record>;
  wallets(list: readonly string[]): Promise<WalletVerdicts>;
};

export function pacedReads({
  ledger,
  profile,
  client,
}: Pick<OpenRealm, 'ledger' | 'profile' | 'client'>): PacedReads {
  const shared = new Pace(ledger, profile);
  const retry = {
    attempts: profile.attempts,
    random: Math.random,
    async pace() {
      const slot = await shared.take();
      return { answered: (answer: Answer) => slot?.answered(answer) };
    },
  };
  return {
    member: (id) => readWithRetries(() => client.readMemberOnce(id), retry),
    web3: (id) => readWithRetries(() => client.readWeb3Once(id), retry),
    wallets: (list) => readWithRetries(() => client.checkWalletsOnce(list), retry),
  };
}
