import type { Redis } from 'ioredis';
import { z } from 'zod';
import { OPS, type Op } from '../../../src/core/order.js';
import { createRealmAdmin, type RealmAdmin } from '../../../src/realm/server/admin.js';
import { realmKeys } from '../../../src/realm/server/store.js';

/** What an auditor reads in the realm service's own store, past everything that the service says of it. */
export type RealmBooks = {
  /** Null: no such member. */
  balance(realmId: string, member: string): Promise<number | null>;
  balances(realmId: string): Promise<Map<string, number>>;
  totalPoints(realmId: string): Promise<bigint>;
  /** Every applied change in the order of its application, oldest first. */
  appliedChanges(realmId: string): Promise<AppliedChange[]>;
  /** How many they are, for those who ask again and again. */
  appliedCount(realmId: string): Promise<number>;
};

/** A line of the applied log, which the service writes in the same script as the change itself. */
export type AppliedChange = {
  /** The log's own id, growing with every line. */
  readonly id: string;
  readonly atMs: number;
  readonly op: Op;
  readonly member: string;
  readonly recipient: string | null;
  /** Always positive; `op` says the direction. */
  readonly tokens: number;
  /** Null: the realm's own. */
  readonly currency: string | null;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
  /** Balance of `member` after the change. */
  readonly balance: number;
};

const appliedLine = z.object({
  op: z.enum(OPS),
  member: z.string(),
  recipient: z.string(),
  tokens: z.coerce.number(),
  currency: z.string(),
  key: z.string(),
  request: z.string(),
  balance: z.coerce.number(),
});

export type AuditedAdmin = RealmAdmin & RealmBooks;

export function auditedAdmin(redis: Redis): AuditedAdmin {
  return { ...createRealmAdmin(redis), ...realmBooks(redis) };
}

/** All fields of a map of members, without those of other currencies, one after the other, whichever of its hashes they stand in. */
const READ_MAP = `
local all = {}
for _, names in ipairs({ KEYS[1], KEYS[1] .. ':*' }) do
  for _, hash in ipairs(redis.call('KEYS', names)) do
    for _, text in ipairs(redis.call('HGETALL', hash)) do all[#all + 1] = text end
  end
end
return all`;

export function realmBooks(redis: Redis): RealmBooks {
  const held = async (realmId: string) => {
    const reply = await redis.eval(READ_MAP, 1, realmKeys(realmId).balances);
    const fields = z.array(z.string()).parse(reply);
    const balances = new Map<string, string>();
    for (const [member, tokens] of pairs(fields)) {
      if (balances.has(member)) throw new Error(`member ${member} stands in two places`);
      balances.set(member, tokens);
    }
    return balances;
  };
  return {
    async balance(realmId, member) {
      const tokens = (await held(realmId)).get(member);
      return tokens === undefined ? null : Number(tokens);
    },
    async balances(realmId) {
      return new Map([...(await held(realmId))].map(([member, tokens]) => [member, Number(tokens)]));
    },
    async totalPoints(realmId) {
      return [...(await held(realmId)).values()].reduce((sum, tokens) => sum + BigInt(tokens), 0n);
    },
    async appliedChanges(realmId) {
      const lines = await redis.xrange(realmKeys(realmId).applied, '-', '+');
      return lines.map(([id, fields]) => toChange(id, fields));
    },
    appliedCount: (realmId) => redis.xlen(realmKeys(realmId).applied),
  };
}

function pairs(fields: readonly string[]): [string, string][] {
  const all: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) all.push([String(fields[at]), String(fields[at + 1])]);
  return all;
}

function toChange(id: string, fields: readonly string[]): AppliedChange {
  const { op, member, recipient, tokens, currency, key, request, balance } = appliedLine.parse(
    Object.fromEntries(pairs(fields)),
  );
  return {
    id,
    atMs: Number(id.slice(0, id.indexOf('-'))),
    op,
    member,
    recipient: recipient === '' ? null : recipient,
    tokens,
    currency: currency === '' ? null : currency,
    idempotencyKey: key === '' ? null : key,
    requestId: request,
    balance,
  };
}
