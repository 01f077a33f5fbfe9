/** The decisions that a person can make while a ledger recovers. */
export const RECOVERY_DECISIONS = ['accept-missing', 'accept-moved', 'retire', 'resume'] as const;
export type RecoveryDecisionKind = (typeof RECOVERY_DECISIONS)[number];

/** Whether orders of a realm may be sent. `waiting for a person` blocks only first sends. */
export const RECOVERY_STATES = ['open', 'waiting for a person', 'closed'] as const;
export type RecoveryState = (typeof RECOVERY_STATES)[number];
