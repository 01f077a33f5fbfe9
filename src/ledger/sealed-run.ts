/** What a run of a rule keeps in the same step as its batch is sealed. */
export type SealedRun = {
  readonly account: string;
  /** The most that all orders of the account may hold; null for no limit. */
  readonly limit: number | null;
  /** Null for a run of a schedule, whose number is its time. */
  readonly number: number | null;
  readonly id: string;
  /** The run as it is from then on, and what became of the schedule's time, as JSON. */
  readonly record: string;
  /** `only`: nothing is sealed where somebody else has dealt with that time. */
  readonly schedule: { readonly rule: string; readonly last: string; readonly only: boolean } | null;
};
