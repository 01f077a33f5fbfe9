import { z } from 'zod';
import { ROLES } from '../../core/people.js';
import { type Of, time } from '../../operations/views/values.js';
import { name, reason } from './values.js';

/** Who has a token, and what it lets them do. */

const roles = z.array(z.enum(ROLES)).min(1);

export const TokensReply = z.strictObject({
  tokens: z.array(z.strictObject({ name: z.string(), roles, createdAt: time, createdBy: z.string() })),
});
export type TokensReply = Of<typeof TokensReply>;

export const TokenRequest = z.strictObject({ name: z.string().trim().min(1).max(64), roles });
export const NewTokenReply = z.strictObject({
  name: z.string(),
  token: z.string().describe('Told this once; the store keeps its hash.'),
});
export type NewTokenReply = Of<typeof NewTokenReply>;

export const TokenParams = z.object({ name });
export const RevokeQuery = z.object({
  lastAdmin: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: the person was told that nobody else is admin.'),
});
export const RevokeRequest = z.strictObject({ reason: reason.optional() }).default({});
export const RevokedReply = z.strictObject({
  waiting: z.array(z.string()).describe('Batches they approved that wait for an approval again.'),
  rules: z
    .array(z.strictObject({ realm: z.string(), rule: z.string(), lost: z.enum(['approval', 'request']) }))
    .describe('Rules that lost an approval of two people, one of them they, or their request for one.'),
  prepared: z
    .array(z.string())
    .describe('Batches they prepared that wait for an approval, and go on waiting.'),
});
export type RevokedReply = Of<typeof RevokedReply>;
