import type { Redis } from 'ioredis';
import { z } from 'zod';
import { OPS, type Op } from '../../core/order.js';

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

export async function* appliedChanges(redis: Redis, stream: string): AsyncGenerator<AppliedChange> {
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
