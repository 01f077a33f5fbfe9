import type { BatchRef } from '../ledger/index.js';
import type { ExplainReply, RulePlanPage, RuleRow } from './api/index.js';
import type { By } from './by.js';

/** What the desk is given about reward rules. */
export type RuleDeps = {
  list(): Promise<readonly RuleRow[]>;
  /** Reads the members at the realm's pace, which may take long; answers the plan's id. */
  plan(rule: string, by: By, onProgress: (done: number, total: number | null) => void): Promise<string>;
  planPage(plan: string, from: number, limit: number): Promise<RulePlanPage>;
  run(plan: string, by: By): Promise<BatchRef | null>;
  /** `seen` is the hash of the text that the person was shown; any other text is refused. */
  approve(rule: string, seen: string, by: By): Promise<void>;
  /** Reads the run until it meets the member: one after the other, and only while somebody waits for it. */
  explain(run: string, member: string, isGone: () => boolean): Promise<ExplainReply>;
};
