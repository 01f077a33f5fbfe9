import { LRUCache } from 'lru-cache';
import { Line } from '../core/line.js';
import { slicesOf } from './audience-row.js';
import type { RuleFault } from './fault.js';
import { fileStamp } from './file-stamp.js';
import type { PackedRule } from './rule.js';
import type { Looked, RuleHead } from './rule-jobs.js';
import { withRuleThread } from './rule-thread.js';

/** Reads a rule file and everything it names in a thread; `file` is what people call the path. */
export function readRule(
  path: string,
  file: string = path,
  stop?: AbortSignal,
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

type RuleFile = { readonly path: string; readonly file: string };

const looks = new Line(1);
const kept = new LRUCache<string, Looked>({ max: 1_000 });

/**
 * The rules of some files, without their members; lists of members that rules refer to are passed over, unless
 * somebody `named` them. One look at a time, and what was seen counts until a file of it changes: whoever asks
 * meanwhile, or again, needs no thread.
 */
export function lookAtRules(
  files: readonly RuleFile[],
  named = false,
): Promise<{ file: string; result: RuleHead }[]> {
  const keyOf = ({ path, file }: RuleFile) => JSON.stringify([named, path, file]);
  return looks.through(async () => {
    const known = await Promise.all(files.map((one) => unchanged(kept.get(keyOf(one)))));
    if (known.includes(undefined))
      await withRuleThread(undefined, async (thread) => {
        for (const [at, one] of files.entries()) {
          const looked = known[at] ?? (await thread.ask('look', one.path, one.file, named));
          kept.set(keyOf(one), looked);
          known[at] = looked;
        }
      });
    return files.flatMap(({ file }, at) => {
      const result = known[at]?.head ?? null;
      return result === null ? [] : [{ file, result }];
    });
  });
}

async function unchanged(looked: Looked | undefined): Promise<Looked | undefined> {
  const stamps = await Promise.all((looked?.seen ?? []).map(({ path }) => fileStamp(path)));
  return looked?.seen.every(({ stamp }, at) => stamp === stamps[at]) ? looked : undefined;
}
