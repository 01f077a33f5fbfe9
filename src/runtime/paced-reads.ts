import { setTimeout as sleep } from 'node:timers/promises';
import type { MemberId } from '../core/ids.js';
import type { RealmProfile } from '../core/profile.js';
import { Pace } from '../queue/pace.js';
import type { MemberRecord, RealmClient, Web3Record } from '../realm/client/client.js';
import type { ReadResult } from '../realm/client/outcomes.js';
import type { WalletMemberships } from '../realm/client/wallet-reply.js';
import type { OpenRealm } from './app.js';

/**
 * The reads of a realm at its pace, with balances in one currency. Each request, including retries, takes a slot that
 * all processes share. A temporary failure is retried with backoff; the last failure is thrown.
 */
export type PacedReads = {
  member(id: MemberId): Promise<MemberRecord>;
  web3(id: MemberId): Promise<Web3Record>;
  /** Checks any number of wallets in requests of the profile's size, one after the other. No wallet is sent twice. */
  wallets(list: readonly string[]): Promise<WalletMemberships>;
};

/** A longer wait is reported to the person instead. */
const RETRY_AFTER_MAX_MS = 120_000;

/** Creates paced reads for a profile. */
export function pacedReads(
  { ledger, profile, client }: Pick<OpenRealm, 'ledger' | 'profile' | 'client'>,
  currency: string | null,
): PacedReads {
  return readsAt(new Pace(ledger, profile), { ...profile, currency }, client);
}

export function readsAt(
  pace: Pick<Pace, 'take'>,
  { attempts, wallets, currency }: Pick<RealmProfile, 'attempts' | 'wallets' | 'currency'>,
  client: Pick<RealmClient, 'readMember' | 'readWeb3' | 'checkWallets'>,
): PacedReads {
  const repeated = async <T>(read: () => Promise<ReadResult<T>>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      const slot = await pace.take();
      const result = await read();
      slot?.answered(result.facts);
      if (result.ok) return result.value;
      const askedMs = result.facts.retryAfterMs ?? 0;
      if (!result.retryable || attempt >= attempts.max || askedMs > RETRY_AFTER_MAX_MS) throw result.error;
      const backoffMs = Math.min(attempts.backoffMaxMs, attempts.backoffMs * 2 ** (attempt - 1));
      // Half of the pause is random, which spreads the retries of many processes.
      await sleep(Math.max(askedMs, backoffMs * (0.5 + Math.random() / 2)));
    }
  };
  return {
    member: (id) => repeated(() => client.readMember(id, currency)),
    web3: (id) => repeated(() => client.readWeb3(id)),
    async wallets(list) {
      const distinct = [...new Set(list)];
      const verdicts: WalletMemberships = new Map();
      for (let start = 0; start < distinct.length; start += wallets.chunk) {
        const part = distinct.slice(start, start + wallets.chunk);
        for (const [wallet, verdict] of await repeated(() => client.checkWallets(part)))
          verdicts.set(wallet, verdict);
      }
      return verdicts;
    },
  };
}
