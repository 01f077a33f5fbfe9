import type { Redis } from 'ioredis';
import { z } from 'zod';
import { OPS, type Op } from '../../../src/core/order.js';
import { createRealmAdmin, type RealmAdmin } from '../../../src/realm/server/admin.js';
import { realmKeys } from '../../../src/realm/server/store.js';

/** The realm service's stored records, read directly from its store, without relying on the service's own answers. */
export type RealmRecords = {
  /** Null if the member does not exist. */
  balance(realmId: string, member: string): Promise<number | null>;
  balances(realmId: string): Promise<Map<string, number>>;
  totalPoints(realmId: string): Promise<bigint>;
  /** Every applied change, oldest first. */
  appliedChanges(realmId: string): Promise<AppliedChange[]>;
  /** The number of applied changes, for tests that poll. */
  appliedCount(realmId: string): Promise<number>;
};

/** A line of the applied log. The service writes it in the same script as the change itself. */
export type AppliedChange = {
  /** The id of the log line; it grows with every line. */
  readonly id: string;
  readonly atMs: number;
  readonly op: Op;
  readonly member: string;
  readonly recipient: string | null;
  /** Always positive; `op` holds the direction. */
  readonly tokens: number;
  /** Null means the realm's own currency. */
  readonly currency: string | null;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
  /** The balance of `member` after the change. */
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

export type AuditedAdmin = RealmAdmin & RealmRecords;

export function auditedAdmin(redis: Redis): AuditedAdmin {
  return { ...createRealmAdmin(redis), ...realmRecords(redis) };
}

/** Lists all fields of a map of members, which spans several hashes, and leaves out those of other currencies. */
const READ_MAP = `
local all = {}
for _, names in ipairs({ KEYS[1], KEYS[1] .. ':*' }) do
  for _, hash in ipairs(redis.call('KEYS', names)) do
    for _, text in ipairs(redis.call('HGETALL', hash)) do all[#all + 1] = text end
  end
end
return all`;

export function realmRecords(redis: Redis): RealmRecords {
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
