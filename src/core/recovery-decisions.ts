/** What a person may decide about a ledger that recovers. */
export const RECOVERY_DECISIONS = ['accept-missing', 'accept-moved', 'retire', 'resume'] as const;
export type RecoveryDecisionKind = (typeof RECOVERY_DECISIONS)[number];
