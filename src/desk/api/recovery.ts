import { z } from 'zod';
import { RECOVERY_DECISIONS, RECOVERY_STATES } from '../../core/recovery-decisions.js';
import { count, type Of, sum } from '../../operations/views/values.js';
import { reason } from './values.js';

/** What happened to the store of each realm, and what a person decides about it. */

const RecoveryDecision = z.strictObject({
  kind: z.enum(RECOVERY_DECISIONS),
  of: z
    .string()
    .describe('The session that is given up, or `removed`; until when folders are retired; else empty.'),
  command: z.string().describe('The command that decides the same.'),
  does: z.string().describe('What it does, to how many orders and tokens; hand it back as `shown`.'),
});
export type RecoveryDecision = Of<typeof RecoveryDecision>;

const WaitingBatch = z.strictObject({ batch: z.string(), source: z.string(), orders: count, tokens: sum });

export const RecoveryStory = z.strictObject({
  realm: z.string(),
  state: z
    .enum(RECOVERY_STATES)
    .describe('`waiting for a person`: only first sends wait. `closed`: nothing is sent.'),
  happened: z.string(),
  waitsFor: z.array(z.string()).describe('Processes and data folders that it waits for, in sentences.'),
  decisions: z.array(RecoveryDecision),
  waiting: z
    .array(WaitingBatch)
    .describe('Batches whose first sends wait for a person, with the orders that would be sent.'),
});
export type RecoveryStory = Of<typeof RecoveryStory>;

export const RecoveryReply = z.strictObject({ realms: z.array(RecoveryStory) });
export type RecoveryReply = Of<typeof RecoveryReply>;

export const RecoveryRequest = z.strictObject({
  kind: z.enum(RECOVERY_DECISIONS),
  of: z.string().max(200),
  shown: z.string().min(1).max(2_000).describe('`does` as the person saw it. Another one by now: 409.'),
  reason: reason.optional(),
});
export type RecoveryRequest = Of<typeof RecoveryRequest>;
