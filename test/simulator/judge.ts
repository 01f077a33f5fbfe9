import { tieUp } from '../support/tie-up.js';
import type { File, Operator } from './operator.js';
import type { Realm } from './realm.js';

/** The realm's log against what the program says. */

export const FAULTS = ['twice', 'lost', 'wrong', 'unnamed', 'broken'] as const;
export type FaultKind = (typeof FAULTS)[number];
export type Fault = { readonly kind: FaultKind; readonly what: string };

export type Judgement = {
  readonly orders: number;
  readonly doubts: number;
  readonly faults: readonly Fault[];
};

const STANDING = ['p', 'w', 's', 'u'];

/** Orders that are neither final nor moving, and of which nobody is told why. Asked when nothing moves any more. */
export async function unnamed(files: readonly File[], operator: Operator): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const file of files) {
    const batch = await operator.look(file);
    if (batch === undefined) continue;
    const named = await operator.named(file, batch);
    for (const [i, { code }] of batch.records.entries()) {
      const planned = code === 'p' || code === 'w';
      if (!STANDING.includes(code) || (planned && batch.state === 'cancelled')) continue;
      if (named.has(i + 1)) continue;
      const what = `${file.id}-${i + 1} is ${code} in a batch that is ${batch.state}, and nobody says why`;
      faults.push({ kind: 'unnamed', what });
    }
  }
  return faults;
}

/** When people have done what they can: everything has ended, once, and is called what it is. */
export async function judge(
  files: readonly File[],
  realm: Realm,
  operator: Operator,
  standing: readonly Fault[],
  broken: readonly string[],
): Promise<Judgement> {
  const faults: Fault[] = [...standing, ...broken.map((what): Fault => ({ kind: 'broken', what }))];
  const say = (kind: FaultKind, what: string) => faults.push({ kind, what });
  for (const [intention, times] of realm.applied)
    if (times > 1) say('twice', `${intention} was applied ${times} times`);
  const paid = new Map<string, number>();
  const seen = new Set<string>();
  const armed = await operator.armed();
  for (const file of files) {
    const batch = await operator.look(file);
    if (batch === undefined) continue;
    for (const [i, { intention }] of file.rows.entries()) {
      const code = batch.records[i]?.code ?? 'p';
      const name = `${file.id}-${i + 1}`;
      seen.add(intention);
      if (code === 'P') paid.set(intention, (paid.get(intention) ?? 0) + 1);
      const planned = code === 'p' || code === 'w';
      if (planned && batch.state === 'cancelled') continue;
      if (STANDING.includes(code) && armed) say('lost', `${name} has not ended: ${code} in ${batch.state}`);
      if (code === 'D') say('lost', `${name} is still in doubt`);
    }
  }
  for (const file of files)
    for (const { intention } of file.rows) {
      const [times, called] = [realm.times(intention), paid.get(intention) ?? 0];
      if (!seen.has(intention)) say('lost', `${intention} is in no batch`);
      else if (called !== times && times <= 1 && armed)
        say('wrong', `${intention} was applied ${times} times and is paid ${called} times`);
    }
  for (const what of await tieUp(operator.books)) say('wrong', what);
  return { orders: files.reduce((sum, { rows }) => sum + rows.length, 0), doubts: 0, faults };
}
