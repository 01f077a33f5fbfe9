import type { Redis } from 'ioredis';
import { stringify } from 'lossless-json';
import { z } from 'zod';
import { OPS, type Op } from '../../core/order.js';
import { openApiKeys } from './api-keys.js';
import { PUT_MEMBERS, realmKeys, runScript } from './keys.js';
import { comparableWallets, type MemberSeed, seedFault } from './member-seed.js';

/** What happens to the balance of a member that is put again. */
export type ExistingMembers = 'keep' | 'replace';

/** The service's own side door: makes realms, keys and members, and reads the books for audits. */
export type RealmAdmin = {
  /** Makes the realm where it does not exist; true when it was made now. */
  createRealm(realmId: string): Promise<boolean>;
  issueKey(realmId: string): Promise<string>;
  adoptKey(realmId: string, key: string): Promise<void>;
  /** A new key; every other key of the realm ends. */
  rotateKey(realmId: string): Promise<string>;
  revokeKey(realmId: string, key: string): Promise<void>;
  revokeKeys(realmId: string): Promise<void>;
  keyCount(realmId: string): Promise<number>;
  /** Returns how many members are new. Wallets and facts are replaced; the balance as `existing` says. */
  putMembers(
    realmId: string,
    members: AsyncIterable<MemberSeed> | Iterable<MemberSeed>,
    existing?: ExistingMembers,
  ): Promise<number>;
  /** True when the member did not exist; one that exists stays as it is. */
  ensureMember(realmId: string, seed: MemberSeed): Promise<boolean>;
  /** Null: no such member. */
  balance(realmId: string, member: string): Promise<number | null>;
  /** In no order. A member may come twice while members are being added. */
  balances(realmId: string): AsyncIterable<{ readonly member: string; readonly tokens: number }>;
  /** Exact, and of one moment. */
  totalPoints(realmId: string): Promise<bigint>;
  /** Every applied change in the order of its application, oldest first. */
  appliedChanges(realmId: string): AsyncIterable<AppliedChange>;
  dropRealm(realmId: string): Promise<void>;
};

const BLOCK_MEMBERS = 500;

export function createRealmAdmin(redis: Redis): RealmAdmin {
  const apiKeys = openApiKeys(redis);

  const createRealm = async (realmId: string): Promise<boolean> =>
    (await redis.hsetnx(realmKeys(realmId).realm, 'createdAt', Date.now())) === 1;

  return {
    createRealm,
    async issueKey(realmId) {
      await createRealm(realmId);
      return apiKeys.issue(realmId);
    },
    async adoptKey(realmId, key) {
      await createRealm(realmId);
      await apiKeys.adopt(realmId, key);
    },
    async rotateKey(realmId) {
      await createRealm(realmId);
      return apiKeys.rotate(realmId);
    },
    revokeKey: apiKeys.revokeKey,
    revokeKeys: apiKeys.revokeAll,
    keyCount: (realmId) => redis.zcard(realmKeys(realmId).apiKeys),

    async putMembers(realmId, members, existing = 'replace') {
      const keys = realmKeys(realmId);
      await createRealm(realmId);
      let created = 0;
      let block: unknown[] = [];
      const flush = async () => {
        if (block.length === 0) return;
        const args = [existing, JSON.stringify(block)];
        created += Number(
          await runScript(redis, PUT_MEMBERS, [keys.balances, keys.profiles, keys.wallets], args),
        );
        block = [];
      };
      for await (const seed of members) {
        block.push(packSeed(seed));
        if (block.length === BLOCK_MEMBERS) await flush();
      }
      await flush();
      return created;
    },

    async ensureMember(realmId, seed) {
      const keys = realmKeys(realmId);
      if ((await redis.hexists(keys.balances, seed.member)) === 1) return false;
      const args = ['keep', JSON.stringify([packSeed(seed)])];
      await createRealm(realmId);
      return (await runScript(redis, PUT_MEMBERS, [keys.balances, keys.profiles, keys.wallets], args)) === 1;
    },

    async balance(realmId, member) {
      const held = await redis.hget(realmKeys(realmId).balances, member);
      return held === null ? null : Number(held);
    },

    async *balances(realmId) {
      const pages = redis.hscanStream(realmKeys(realmId).balances, { count: 1_000 });
      for await (const page of pages) {
        if (!Array.isArray(page)) continue;
        for (let at = 0; at + 1 < page.length; at += 2) {
          yield { member: String(page[at]), tokens: Number(page[at + 1]) };
        }
      }
    },

    async totalPoints(realmId) {
      // One HVALS rather than a scan: only a single command sees all balances at one moment.
      const held = await redis.hvals(realmKeys(realmId).balances);
      return held.reduce((sum, tokens) => sum + BigInt(tokens), 0n);
    },

    appliedChanges: (realmId) => appliedChanges(redis, realmKeys(realmId).applied),

    async dropRealm(realmId) {
      await apiKeys.revokeAll(realmId);
      // One by one, so that no single command names them all; UNLINK frees the memory in the background.
      for (const key of Object.values(realmKeys(realmId))) await redis.unlink(key);
    },
  };
}

function packSeed(seed: MemberSeed): [string, string, string[], string] {
  const fault = seedFault(seed);
  if (fault !== undefined)
    throw new RangeError(`member ${JSON.stringify(seed.member)}: ${fault.column}: ${fault.message}`);
  const wallets = comparableWallets(seed);
  // Lossless: the facts may hold token ids beyond 2^53 as LosslessNumber.
  const profile = stringify({ wallets, web3: seed.web3 ?? {}, attributes: seed.attributes ?? {} });
  return [seed.member, String(seed.tokens), wallets, profile ?? ''];
}

/**
 * The applied log: one line for every change, written in the same script as the change itself. It is what
 * an auditor compares, row by row, with what a client believes to have paid.
 */
export type AppliedChange = {
  /** The log's own id, growing with every line. */
  readonly id: string;
  readonly atMs: number;
  readonly op: Op;
  readonly member: string;
  readonly recipient: string | null;
  /** Always positive; `op` says the direction. */
  readonly tokens: number;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
  /** Balance of `member` after the change. */
  readonly balance: number;
};

const line = z.object({
  op: z.enum(OPS),
  member: z.string(),
  recipient: z.string(),
  tokens: z.coerce.number(),
  key: z.string(),
  request: z.string(),
  balance: z.coerce.number(),
});

const PAGE_LINES = 1_000;

async function* appliedChanges(redis: Redis, stream: string): AsyncGenerator<AppliedChange> {
  let from = '-';
  for (;;) {
    const page = await redis.xrange(stream, from, '+', 'COUNT', PAGE_LINES);
    for (const [id, fields] of page) {
      yield toChange(id, fields);
      from = `(${id}`;
    }
    if (page.length < PAGE_LINES) return;
  }
}

function toChange(id: string, fields: readonly string[]): AppliedChange {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) pairs.push([String(fields[at]), String(fields[at + 1])]);
  const { op, member, recipient, tokens, key, request, balance } = line.parse(Object.fromEntries(pairs));
  return {
    id,
    atMs: Number(id.slice(0, id.indexOf('-'))),
    op,
    member,
    recipient: recipient === '' ? null : recipient,
    tokens,
    idempotencyKey: key === '' ? null : key,
    requestId: request,
    balance,
  };
}
