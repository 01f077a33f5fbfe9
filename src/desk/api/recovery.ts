import { z } from 'zod';
import { RecoveryDecision, RecoveryStory as Story } from '../../operations/views/realm.js';
import { count, type Of, sum } from '../../operations/views/values.js';
import { reason } from './values.js';

/** What happened to the store of each realm, and what a person decides about it. */

export type { RecoveryDecision };

const WaitingBatch = z.strictObject({ batch: z.string(), source: z.string(), orders: count, tokens: sum });

export const RecoveryStory = Story.extend({
  waiting: z
    .array(WaitingBatch)
    .describe('Batches whose first sends wait for a person, with the orders that would be sent.'),
});
export type RecoveryStory = Of<typeof RecoveryStory>;

export const RecoveryReply = z.strictObject({ realms: z.array(RecoveryStory) });
export type RecoveryReply = Of<typeof RecoveryReply>;

export const RecoveryRequest = z.strictObject({
  kind: RecoveryDecision.shape.kind,
  of: z.string().max(200),
  shown: z.string().min(1).max(2_000).describe('`does` as the person saw it. Another one by now: 409.'),
  reason: reason.optional(),
});
export type RecoveryRequest = Of<typeof RecoveryRequest>;
