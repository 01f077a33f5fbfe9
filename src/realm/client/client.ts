import type { Got } from 'got';
import type { WriteOutcome } from '../../core/classify.js';
import { counted } from '../../core/counted.js';
import { AlmonerError } from '../../core/errors/error.js';
import { hasLeadingZero, type MemberId } from '../../core/ids.js';
import type { RealmProfile } from '../../core/profile.js';
import { memberBalance } from './answer-body.js';
import { createCredentialReader } from './credential.js';
import { createAgents, createInstances, exchange } from './exchange.js';
import {
  keylessOutcome,
  keylessRead,
  type ReadResult,
  type ReadSubject,
  readResult,
  writeOutcome,
} from './outcomes.js';
import { decodeWalletReply, type WalletMemberships } from './wallet-reply.js';

/** A member record as the realm sent it. Numbers in `raw` are LosslessNumber, so no digit is lost. */
export type MemberRecord = { readonly id: MemberId; readonly balance: string | null; readonly raw: unknown };
export type Web3Record = { readonly id: MemberId; readonly raw: unknown };

/** A balance change to send. */
type BalanceChange = {
  readonly member: MemberId;
  /** Signed: positive adds, negative subtracts. */
  readonly tokens: number;
  /** The currency that was sealed with the order's batch; null means the realm's default. */
  readonly currency: string | null;
  readonly idempotencyKey: string;
  /**
   * The client calls it when the connection is established and no byte is written. If it returns false, the outcome
   * is `not-sent`.
   */
  readonly mayLeave: () => boolean;
};
type Transfer = BalanceChange & { readonly recipient: MemberId };

/**
 * The five calls of the realm interface. Each call makes exactly one request and never repeats it. It never throws
 * for a fault of the realm. A write cannot be aborted: it ends with an answer or a time-out. The caller does pacing
 * and retries.
 */
export type RealmClient = {
  /** `currency` chooses the balance to read; the default is the profile's currency. */
  readMember(id: MemberId, currency?: string | null): Promise<ReadResult<MemberRecord>>;
  readWeb3(id: MemberId): Promise<ReadResult<Web3Record>>;
  checkWallets(list: readonly string[]): Promise<ReadResult<WalletMemberships>>;
  changeBalance(change: BalanceChange): Promise<WriteOutcome>;
  transfer(transfer: Transfer): Promise<WriteOutcome>;
  /** Waits until all calls in progress end, then closes all connections. */
  close(): Promise<void>;
};

/** The parts of a client: profile, address, key and certificate authority. */
export type RealmClientOptions = {
  readonly profile: RealmProfile;
  /** The address to call. It differs from the profile's address for the embedded service. */
  readonly baseUrl: string;
  /** Called for each request, so that a rotated key takes effect immediately. */
  readonly readKey: () => string;
  /** A certificate authority in PEM to trust instead of the system's. */
  readonly ca?: string;
};

/** Creates a client for one realm. It holds connections; call `close` when done. */
export function createRealmClient(options: RealmClientOptions): RealmClient {
  const { profile } = options;
  const endpoints = createEndpoints(options.baseUrl, profile.realmId);
  const { read, check, get, patch, inCurrency, close } = createCalls(options);
  return {
    readMember: (id, currency = profile.currency) =>
      get(read, { url: endpoints.member(id) }, { what: 'member', name: id }, (raw) => ({
        id,
        balance: memberBalance(raw, inCurrency(currency)),
        raw,
      })),
    readWeb3: (id) =>
      get(read, { url: endpoints.web3(id) }, { what: 'web3', name: id }, (raw) => ({ id, raw })),
    checkWallets: (list) =>
      get(
        check,
        { url: endpoints.includes, body: JSON.stringify({ wallets: list }) },
        { what: 'wallets', name: counted(list.length, 'wallet') },
        (raw) => decodeWalletReply(raw, list),
      ),
    changeBalance: async (change) => {
      const body = balanceBody(change.tokens, { ...profile, currency: change.currency });
      return patch(endpoints.tokenBalance(change.member), body, change);
    },
    transfer: async (change) => {
      const { member, recipient, tokens, currency } = change;
      return patch(endpoints.transfer(member), transferBody(recipient, tokens, inCurrency(currency)), change);
    },
    close,
  };
}

/**
 * Builds the read and write functions with the realm's key. It tracks every call in progress, so that `close` can
 * wait for it.
 */
function createCalls({ profile, readKey, ca }: RealmClientOptions) {
  const agents = createAgents(ca);
  const { read, check, write } = createInstances(profile, agents);
  const credential = createCredentialReader(readKey, profile.authScheme);
  const underWay = new Set<Promise<unknown>>();
  const inCurrency = (currency: string | null) =>
    currency === profile.currency ? profile : { ...profile, currency };

  /** Remembers a call until it ends, so that `close` does not cut it off. */
  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    const done = () => underWay.delete(work);
    work.then(done, done);
    return work;
  }

  async function ask<T>(
    instance: Got,
    request: { readonly url: string; readonly body?: string },
    subject: ReadSubject,
    recordOf: (raw: unknown) => T,
  ): Promise<ReadResult<T>> {
    const key = credential();
    if (typeof key === 'string') return keylessRead(key);
    agents.dropStale();
    const headers = { authorization: key.authorization };
    const seen = await exchange(instance, { ...request, headers }, profile.timeouts.totalMs);
    const result = readResult(seen, key, subject);
    return result.ok ? { ...result, value: recordOf(result.value) } : result;
  }

  async function send(
    url: string,
    body: string,
    { currency, idempotencyKey, mayLeave }: BalanceChange,
  ): Promise<WriteOutcome> {
    const headers = { 'idempotency-key': structuredString(idempotencyKey) };
    const key = credential();
    if (typeof key === 'string') return keylessOutcome(key);
    agents.dropStale();
    const request = { url, body, headers: { authorization: key.authorization, ...headers }, mayLeave };
    const seen = await exchange(write, request, profile.timeouts.totalMs);
    return writeOutcome(seen, key, inCurrency(currency));
  }

  return {
    read,
    check,
    get: <T>(...asked: Parameters<typeof ask<T>>) => track(ask<T>(...asked)),
    patch: (...sent: Parameters<typeof send>) => track(send(...sent)),
    inCurrency,
    async close() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
      agents.close();
    },
  };
}

/** The URLs of the five calls. Member ids are digits and need no encoding; the realm id may hold any character. */
export function createEndpoints(baseUrl: string, realmId: string) {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const usable = base?.protocol === 'http:' || base?.protocol === 'https:';
  // A user name and password in the URL would replace the Authorization header.
  if (base === undefined || !usable || base.username !== '' || base.password !== '')
    throw new AlmonerError('ALM_CONFIG_INVALID', 'The base URL of the realm is not a plain http(s) address.');
  // Encoding leaves `.` and `..` unchanged, and URL resolution would remove them as path segments.
  if (realmId === '' || realmId === '.' || realmId === '..')
    throw new AlmonerError('ALM_CONFIG_INVALID', `${JSON.stringify(realmId)} cannot be a realm id.`);

  const prefix = base.pathname.replace(/\/+$/, '').replace(/\/api\/v4$/, '');
  const realm = `${base.origin}${prefix}/api/v4/realms/${encodeURIComponent(realmId)}`;
  return {
    member: (id: MemberId) => `${realm}/members/${id}`,
    web3: (id: MemberId) => `${realm}/web3/members/${id}`,
    includes: `${realm}/members/includes`,
    tokenBalance: (id: MemberId) => `${realm}/members/${id}/tokenBalance`,
    transfer: (id: MemberId) => `${realm}/members/${id}/transfer`,
  };
}

/**
 * The profile fields that shape a request body. Bodies are concatenated as text: a JavaScript number would round ids
 * of 17 to 19 digits, and no common serializer writes an integer literal from a string.
 */
type BodyProfile = Pick<RealmProfile, 'currency' | 'recipientAs'>;

/** The body of a balance change. `tokens` is signed: positive adds, negative subtracts. */
export function balanceBody(tokens: number, profile: BodyProfile): string {
  return `{"tokens":${integer(tokens)}${currencyField(profile)}}`;
}

/** The body of a transfer. */
export function transferBody(recipient: MemberId, tokens: number, profile: BodyProfile): string {
  // A JSON integer has no leading zero, and 7 and 007 are different members. Planning refuses rows with such ids;
  // older orders that hold one send it as text.
  const literal =
    profile.recipientAs === 'string' || hasLeadingZero(recipient) ? `"${recipient}"` : recipient;
  return `{"recipientId":${literal},"tokens":${integer(tokens)}${currencyField(profile)}}`;
}

function integer(tokens: number): string {
  if (!Number.isSafeInteger(tokens) || tokens === 0)
    throw new RangeError(`expected a safe integer of tokens other than 0, got ${tokens}`);
  return String(tokens);
}

function currencyField({ currency }: BodyProfile): string {
  return currency === null ? '' : `,"realmPointId":${JSON.stringify(currency)}`;
}

/** Writes an RFC 8941 string: printable ASCII in quotes, with `"` and `\` escaped. */
export function structuredString(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new RangeError('expected printable ASCII in an idempotency key');
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
