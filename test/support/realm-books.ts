import type { Redis } from 'ioredis';
import { z } from 'zod';
import { OPS, type Op } from '../../src/core/order.js';
import { createRealmAdmin, type RealmAdmin } from '../../src/realm/server/admin.js';
import { realmKeys } from '../../src/realm/server/store.js';

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
  key: z.string(),
  request: z.string(),
  balance: z.coerce.number(),
});

export type AuditedAdmin = RealmAdmin & RealmBooks;

export function auditedAdmin(redis: Redis): AuditedAdmin {
  return { ...createRealmAdmin(redis), ...realmBooks(redis) };
}

export function realmBooks(redis: Redis): RealmBooks {
  return {
    async balance(realmId, member) {
      const held = await redis.hget(realmKeys(realmId).balances, member);
      return held === null ? null : Number(held);
    },
    async balances(realmId) {
      const held = await redis.hgetall(realmKeys(realmId).balances);
      return new Map(Object.entries(held).map(([member, tokens]) => [member, Number(tokens)]));
    },
    async totalPoints(realmId) {
      const held = await redis.hvals(realmKeys(realmId).balances);
      return held.reduce((sum, tokens) => sum + BigInt(tokens), 0n);
    },
    async appliedChanges(realmId) {
      const lines = await redis.xrange(realmKeys(realmId).applied, '-', '+');
      return lines.map(([id, fields]) => toChange(id, fields));
    },
    appliedCount: (realmId) => redis.xlen(realmKeys(realmId).applied),
  };
}

function toChange(id: string, fields: readonly string[]): AppliedChange {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) pairs.push([String(fields[at]), String(fields[at + 1])]);
  const { op, member, recipient, tokens, key, request, balance } = appliedLine.parse(
    Object.fromEntries(pairs),
  );
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
