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
  'waits-for-go': 'Look at its text and give the go, or put the approved text back.',
  'realm-away': 'It is tried again by itself; see why the realm does not answer.',
  'store-away': 'It is tried again by itself; see why the store does not answer.',
  trouble: 'It is tried again by itself; the log of `almoner serve` says more.',
  stopped: 'Mend the rule, its limits or its audience; then run the rule by hand for that time.',
  fault: 'Mend the rule or its audience; then run the rule by hand for that time.',
  unfinished: 'See to that batch; once it is over, the next time pays who is missing.',
  missed: 'Run the rule by hand for that time, if it is to be paid.',
  unserved: 'Start `almoner serve`, or see why it does not see to the schedules.',
  'no-worker': 'Start `almoner worker`, on any machine that reaches this store.',
  halted: 'Look at why the batch stands still, and let it go on.',
  unpaid: 'See to its dead letters and doubts.',
} as const satisfies Record<string, string | null>;
export type Outcome = keyof typeof OUTCOMES;
export const OUTCOME_NAMES = Object.keys(OUTCOMES) as [Outcome, ...Outcome[]];
