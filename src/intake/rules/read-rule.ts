import type { AudienceRow } from './audience-row.js';
import type { RuleResult } from './rule.js';
import type { RuleHead } from './rule-jobs.js';
import { withRuleThread } from './rule-thread.js';

/** For commands, which end with their process. */
const NEVER = new AbortController().signal;

/** Reads a rule file and everything it names in a thread; `file` is what people call the path. */
export function readRule(path: string, file: string = path, stop = NEVER): Promise<RuleResult> {
  return withRuleThread(stop, async (thread) => {
    const head = await thread.ask('load', path, file);
    if ('faults' in head) return head;
    const rows: AudienceRow[] = [];
    while (rows.length < head.members)
      rows.push(...(await thread.ask('rows', rows.length, rows.length + SLICE)));
    return { rule: head.rule, audience: { ...head.audience, rows } };
  });
}

const SLICE = 2_000;

/** The rules of some files, without their members. `look` passes over lists of members that rules refer to. */
export function lookAtRules(
  files: readonly { readonly path: string; readonly file: string }[],
  job: 'look' | 'load' = 'look',
): Promise<{ file: string; result: RuleHead }[]> {
  return withRuleThread(NEVER, async (thread) => {
    const found: { file: string; result: RuleHead }[] = [];
    for (const { path, file } of files) {
      const result = await thread.ask(job, path, file);
      if (result !== null) found.push({ file, result });
    }
    return found;
  });
}
