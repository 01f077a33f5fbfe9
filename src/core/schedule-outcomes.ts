/** What can become of a scheduled time, and what a person does about it. Null: no action is needed. */
export const OUTCOMES = {
  /** No scheduled time has come since the approval. */
  none: null,
  planning: null,
  enqueued: null,
  paid: null,
  nothing: null,
  paused: null,
  skipped: null,
  cancelled: null,
  'waits-for-go': 'Read its text and approve it, or restore the approved text.',
  'realm-away': 'almoner tries again by itself. Find out why the realm does not answer.',
  'store-away': 'almoner tries again by itself. Find out why the store does not answer.',
  trouble: 'almoner tries again by itself. The log of `almoner serve` says more.',
  stopped: 'Correct the rule, its limits or its audience. Then run the rule by hand for that time.',
  fault: 'Correct the rule or its audience. Then run the rule by hand for that time.',
  unfinished: 'Finish or cancel that batch. The next scheduled time then pays the members that are missing.',
  missed: 'If that time should still be paid, run the rule by hand for it.',
  unserved: 'Start `almoner serve`. If it is running, find out why it does not run the schedules.',
  'no-worker': 'Start `almoner worker`, on any machine that reaches this store.',
  halted: 'Find out why the batch is halted, then resume it.',
  unpaid: 'Retry or discard its dead letters, and resolve its doubts.',
} as const satisfies Record<string, string | null>;
export type ScheduleOutcome = keyof typeof OUTCOMES;
export const OUTCOME_NAMES = Object.keys(OUTCOMES) as [ScheduleOutcome, ...ScheduleOutcome[]];
