import { z } from 'zod';
import { RECOVERY_DECISIONS, RECOVERY_STATES } from '../../core/recovery-decisions.js';
import { type Of, Rate, time } from './values.js';

/** A realm: its pace, and what happened to its store. */

export const Pace = z.strictObject({
  realm: z.string(),
  configured: Rate.nullable(),
  learnt: Rate.extend({ by: z.enum(['headers', 'refusals']), since: time })
    .nullable()
    .describe('A limit lower than the configured one, what taught it, and since when.'),
  others: z.number().describe('Requests a window that somebody else makes on the same realm.'),
  used: z
    .number()
    .describe(
      'Requests that left within the last window, or are under way; the overview counts a minute where there is no limit.',
    ),
  holdUntil: time.nullable().describe('Nothing is sent until then: the realm asked for it (Retry-After).'),
  notes: z.array(z.string()).describe('The same in sentences; empty when everything is as configured.'),
});
export type Pace = Of<typeof Pace>;

export const RecoveryDecision = z.strictObject({
  kind: z.enum(RECOVERY_DECISIONS),
  of: z
    .string()
    .describe(
      'The session that is given up, or `removed`; until when unseen folders are retired; else empty.',
    ),
  command: z.string().describe('The command that decides the same.'),
  does: z.string().describe('What it does, to how many orders and tokens.'),
});
export type RecoveryDecision = Of<typeof RecoveryDecision>;

export const RecoveryStory = z.strictObject({
  realm: z.string(),
  state: z
    .enum(RECOVERY_STATES)
    .describe('`waiting for a person`: only first sends wait. `closed`: nothing is sent.'),
  happened: z.string(),
  waitsFor: z.array(z.string()).describe('Processes and data folders that it waits for, in sentences.'),
  decisions: z.array(RecoveryDecision),
});
export type RecoveryStory = Of<typeof RecoveryStory>;
