import type { RuleFault } from './fault.js';
import { slicesOf } from './packed-audience.js';
import type { PackedRule } from './rule.js';
import type { RuleHead } from './rule-jobs.js';
import { withRuleThread } from './rule-thread.js';

/** For commands, which end with their process. */
const NEVER = new AbortController().signal;

/** Reads a rule file and everything it names in a thread; `file` is what people call the path. */
export function readRule(
  path: string,
  file: string = path,
  stop = NEVER,
): Promise<PackedRule | { readonly faults: readonly RuleFault[] }> {
  return withRuleThread(stop, async (thread) => {
    const head = await thread.ask('load', path, file);
    if ('faults' in head) return head;
    const { rule, audience } = head;
    const slices: string[] = [];
    while (slices.length < slicesOf(audience.members)) slices.push(await thread.ask('slice', slices.length));
    return { rule, audience: { ...audience, slices } };
  });
}

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
