import { type OrderId, orderId } from '../../src/core/ids.js';
import { tieUp } from '../support/ledger/tie-up.js';
import type { Move } from './moves.js';
import type { Operator } from './operator.js';
import { passesLimit, ruleLimit } from './rules.js';
import type { Scene } from './scene.js';
import type { File, Row } from './sheet.js';

/** Compares the realm's log with what the program reports. */

export const FAULTS = ['twice', 'lost', 'wrong', 'unnamed', 'broken'] as const;
export type FaultKind = (typeof FAULTS)[number];
export type Fault = { readonly kind: FaultKind; readonly what: string };

export type Judgement = {
  readonly orders: number;
  readonly doubts: number;
  readonly faults: readonly Fault[];
};

const STANDING = ['p', 'w', 's', 'u'];

/**
 * Finds orders that are neither final nor moving and that the program does not report as waiting. Called when nothing
 * moves any more.
 */
export async function unnamed(files: readonly File[], operator: Operator): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const file of files) {
    const batch = await operator.look(file);
    if (batch === undefined) continue;
    const named = await operator.named(file, batch);
    for (const [i, { code }] of batch.records.entries()) {
      const planned = code === 'p' || code === 'w';
      if (!STANDING.includes(code) || (planned && batch.state === 'cancelled')) continue;
      if (named.has(i + 1) || batch.absent.has(i + 1)) continue;
      const what = `${file.id}-${i + 1} is ${code} in a batch that is ${batch.state}, and nobody says why`;
      faults.push({ kind: 'unnamed', what });
    }
  }
  return faults;
}

/** Moves after which every doubt can be judged as needed or needless. */
const PLAIN: readonly Move['do'][] = [
  'send',
  'answer',
  'go on',
  'feed',
  'look',
  'everybody looks',
  'sleep',
  'wake',
  'kill',
  'leave',
  'lose replies',
  'pass',
  'photograph',
  'restore',
  'restart the store',
];

/**
 * Finds needless doubts before people have decided any. A doubt is needless if the order's outcome was never uncertain.
 * Under read-back every doubt is needless while its conditions hold and the store is not rolled back.
 */
export async function lazyDoubts(scene: Scene): Promise<Fault[]> {
  const { files, operator, plan } = scene;
  if (plan.forgetsFiles || !plan.moves.every((move) => PLAIN.includes(move.do))) return [];
  // Balances that arrive late may include another order's effect, and prove nothing.
  if (plan.moves.some((move) => move.do === 'send' && move.until === 'read')) return [];
  const forgets = plan.moves.some((move) => move.do === 'restore');
  // The outcome of an attempt is lost if the store forgets it and the last journal lines never reached the disk.
  const losesLines = plan.moves.some(
    (move) => 'how' in move && move.how.crashAt !== null && move.how.tail !== 'written',
  );
  if (forgets && losesLines) return [];
  const readable = plan.certainty === 'readback' && !forgets;
  const faults: Fault[] = [];
  for (const file of files) {
    const batch = await operator.look(file);
    for (const [i, { code }] of (batch?.records ?? []).entries()) {
      const id = orderId(file.id, i + 1);
      if (code === 'D' && (readable || !scene.isAmbiguous(id)))
        faults.push({ kind: 'wrong', what: `${id} is in doubt for nothing` });
    }
  }
  return faults;
}

/**
 * Judges the history after people have done everything they can: each order must have ended once, in the state that the
 * realm's log shows.
 */
export async function judge(scene: Scene, standing: readonly Fault[]): Promise<Judgement> {
  const { files, realm, operator, plan } = scene;
  const faults: Fault[] = [...standing, ...scene.broken.map((what): Fault => ({ kind: 'broken', what }))];
  const say = (kind: FaultKind, what: string) => faults.push({ kind, what });
  const stands = appliedNow(scene, say);
  const limit = ruleLimit(plan.members);
  if (passesLimit(realm.applied, (id) => scene.row(id), limit))
    say('twice', `a rule paid more than ${limit}`);
  if (plan.guarded)
    for (const file of files)
      if (!scene.approved.has(file.id) && file.rows.some((_, i) => realm.hasApplied(orderId(file.id, i + 1))))
        say('wrong', `${file.id} was paid, and no second person has said go`);
  const called = new Map<string, number>();
  const untold = new Set<string>();
  const armed = await operator.armed();
  const refuses = await operator.acceptedLoss();
  for (const file of files) {
    const batch = await operator.look(file);
    if (batch === undefined) {
      // An order may wait for a person who must first decide about lost records. The program may also refuse an order
      // that was never sent, with a reason: a rollback undid its cancel, or the limit of the rule is used up.
      const sent = file.rows.some((_, i) => realm.hasHeardOf(orderId(file.id, i + 1)));
      if (armed && sent && !refuses) say('lost', `${file.id} is not in the store`);
      continue;
    }
    for (const [i, row] of file.rows.entries()) {
      const code = batch.records[i]?.code ?? 'p';
      const name = `${file.id}-${i + 1}`;
      const root = row.undoes ?? row.intention;
      if (refuses && batch.absent.has(i + 1)) {
        untold.add(root);
        continue;
      }
      called.set(root, (called.get(root) ?? 0) + (code === 'P' ? signOf(row) : 0));
      const planned = code === 'p' || code === 'w';
      if (planned && batch.state === 'cancelled') continue;
      if (STANDING.includes(code) && armed) say('lost', `${name} has not ended: ${code} in ${batch.state}`);
      if (code === 'D') say('lost', `${name} is still in doubt`);
    }
  }
  for (const [intention, times] of called) {
    const really = stands.get(intention) ?? 0;
    if (times !== really && armed && !untold.has(intention))
      say('wrong', `${intention} stands ${really} times and is called paid ${times} times`);
  }
  for (const what of await tieUp(operator.ledger)) say('wrong', what);
  return { orders: files.reduce((sum, { rows }) => sum + rows.length, 0), doubts: 0, faults };
}

/** How often each intention is applied at the end. It must never rise above one or fall below zero in between. */
function appliedNow(scene: Scene, say: (kind: FaultKind, what: string) => void): Map<string, number> {
  const stands = new Map<string, number>();
  const seen = new Set<OrderId>();
  for (const id of scene.realm.applied) {
    const row = scene.row(id);
    const root = row.undoes ?? row.intention;
    const times = (stands.get(root) ?? 0) + signOf(row);
    stands.set(root, times);
    if (times > 1 || times < 0 || seen.has(id))
      say('twice', `${id} (${row.intention}) was applied once more`);
    seen.add(id);
  }
  return stands;
}

function signOf({ undoes }: Row): 1 | -1 {
  return undoes === null ? 1 : -1;
}
