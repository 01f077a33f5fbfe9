import type { Got } from 'got';
import type { MemberId } from '../../core/ids.js';
import type { WriteOutcome } from '../../core/outcome.js';
import type { RealmProfile } from '../../core/profile.js';
import { createAgents } from './agents.js';
import { memberBalance } from './balance.js';
import { type Credential, createCredentialReader, keyTrouble } from './credential.js';
import { type ExchangeRequest, exchange } from './exchange.js';
import { createInstances } from './instances.js';
import {
  keylessRead,
  NO_PACE,
  type Pace,
  type ReadResult,
  type ReadSubject,
  readResult,
  readWithRetries,
} from './read-result.js';
import { balanceBody, createEndpoints, structuredString, transferBody, walletsBody } from './request-body.js';
import { decodeWalletReply, type WalletVerdicts } from './wallet-reply.js';
import { keylessOutcome, writeOutcome } from './write.js';

/** A record as the realm sent it; numbers in `raw` are LosslessNumber, so that no digit is lost. */
export type MemberRecord = { readonly id: MemberId; readonly balance: string | null; readonly raw: unknown };
export type Web3Record = { readonly id: MemberId; readonly raw: unknown };

export type BalanceChange = {
  readonly member: MemberId;
  /** Signed: positive adds, negative subtracts. */
  readonly tokens: number;
  /** As it was sealed with the order's batch; null: the realm's default. */
  readonly currency: string | null;
  readonly idempotencyKey: string;
};
export type Transfer = BalanceChange & { readonly recipient: MemberId };

/**
 * The five calls of the realm interface. The `…Once` reads make exactly one request and never throw for
 * what the realm does; `member`, `web3` and `wallets` repeat them with backoff, paced by the client's
 * `pace`, and throw an AlmonerError. A write makes exactly one request, is never repeated and cannot be
 * aborted: it ends with an answer or with a time-out. Pacing writes is the caller's.
 */
export type RealmClient = {
  /** `currency`: of the balance; unless given, the profile's. */
  readMemberOnce(id: MemberId, currency?: string | null): Promise<ReadResult<MemberRecord>>;
  readWeb3Once(id: MemberId): Promise<ReadResult<Web3Record>>;
  checkWalletsOnce(list: readonly string[]): Promise<ReadResult<WalletVerdicts>>;
  member(id: MemberId): Promise<MemberRecord>;
  web3(id: MemberId): Promise<Web3Record>;
  wallets(list: readonly string[]): Promise<WalletVerdicts>;
  changeBalance(change: BalanceChange): Promise<WriteOutcome>;
  transfer(transfer: Transfer): Promise<WriteOutcome>;
  /** Waits for what is under way, then closes all connections. */
  close(): Promise<void>;
};

export type RealmClientOptions = {
  readonly profile: RealmProfile;
  /** The address to call; differs from the profile's for the embedded service. */
  readonly baseUrl: string;
  /** Called for each request, so that a new key counts at once. */
  readonly readKey: () => string;
  readonly userAgent: string;
  /** Paces `member`, `web3` and `wallets`; the other calls leave pacing to the caller. */
  readonly pace?: Pace;
  /** A certificate authority to trust instead of the system's, in PEM. */
  readonly ca?: string;
};

export function createRealmClient(options: RealmClientOptions): RealmClient {
  const { profile } = options;
  const endpoints = createEndpoints(options.baseUrl, profile.realmId);
  const agents = createAgents(options.ca);
  const { read, check, write } = createInstances(profile, agents, options.userAgent);
  const credential = createCredentialReader(options.readKey, profile.authScheme);
  const retry = { attempts: profile.attempts, pace: options.pace ?? NO_PACE, random: Math.random };
  const underWay = new Set<Promise<unknown>>();

  /** `close` must not tear a request apart; so everything under way is known. */
  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    const done = () => underWay.delete(work);
    work.then(done, done);
    return work;
  }

  async function get(
    instance: Got,
    request: Omit<ExchangeRequest, 'headers'>,
    subject: ReadSubject,
  ): Promise<ReadResult<unknown>> {
    const key = usableKey(credential);
    if (typeof key === 'string') return keylessRead(key);
    agents.dropStale();
    const headers = { authorization: key.authorization };
    return readResult(
      await exchange(instance, { ...request, headers }, profile.timeouts.totalMs),
      key,
      subject,
    );
  }

  async function patch(
    url: string,
    body: string,
    { currency, idempotencyKey }: BalanceChange,
  ): Promise<WriteOutcome> {
    const headers = { 'idempotency-key': structuredString(idempotencyKey) };
    const key = usableKey(credential);
    if (typeof key === 'string') return keylessOutcome(key);
    agents.dropStale();
    const request = { url, body, headers: { authorization: key.authorization, ...headers } };
    const seen = await exchange(write, request, profile.timeouts.totalMs);
    return writeOutcome(seen, key, { ...profile, currency });
  }

  async function readMemberOnce(
    id: MemberId,
    currency: string | null = profile.currency,
  ): Promise<ReadResult<MemberRecord>> {
    const result = await track(get(read, { url: endpoints.member(id) }, { what: 'member', name: id }));
    return mapped(result, (raw) => ({ id, balance: memberBalance(raw, { ...profile, currency }), raw }));
  }

  async function readWeb3Once(id: MemberId): Promise<ReadResult<Web3Record>> {
    const result = await track(get(read, { url: endpoints.web3(id) }, { what: 'web3', name: id }));
    return mapped(result, (raw) => ({ id, raw }));
  }

  async function checkWalletsOnce(list: readonly string[]): Promise<ReadResult<WalletVerdicts>> {
    const request = { url: endpoints.includes, body: walletsBody(list) };
    const result = await track(get(check, request, { what: 'wallets', name: `${list.length} wallets` }));
    return mapped(result, (raw) => decodeWalletReply(raw, list));
  }

  return {
    readMemberOnce,
    readWeb3Once,
    checkWalletsOnce,
    member: (id) => readWithRetries(() => readMemberOnce(id), retry),
    web3: (id) => readWithRetries(() => readWeb3Once(id), retry),
    wallets: (list) => readWithRetries(() => checkWalletsOnce(list), retry),
    changeBalance: async (change) => {
      const body = balanceBody(change.tokens, { ...profile, currency: change.currency });
      return track(patch(endpoints.tokenBalance(change.member), body, change));
    },
    transfer: async (change) => {
      const { member, recipient, tokens, currency } = change;
      const body = transferBody(recipient, tokens, { ...profile, currency });
      return track(patch(endpoints.transfer(member), body, change));
    },
    async close() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
      agents.close();
    },
  };
}

/** The credential, or what is wrong with it. */
function usableKey(credential: () => Credential): Credential | string {
  try {
    return credential();
  } catch (error) {
    return keyTrouble(error);
  }
}

function mapped<T>(result: ReadResult<unknown>, map: (raw: unknown) => T): ReadResult<T> {
  return result.ok ? { ...result, value: map(result.value) } : result;
}
