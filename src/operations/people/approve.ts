import { AlmonerError } from '../../core/errors/error.js';
import type { Requirement } from '../../core/people.js';
import { endOfWork, quietUntil } from '../../core/quiet-hours.js';
import { spellMoment } from '../../core/zones.js';
import {
  approveBatch,
  type BatchRef,
  cancelBatch,
  changeRequirement,
  lists,
  readBatch,
  readGate,
  readRequirement,
  readWish,
  type StoredBatch,
  strictest,
  withdrawApprovals,
} from '../../ledger/index.js';
import { requestsFor, secondsFor } from '../../planning/preview.js';
import type { App, Books } from '../../runtime/app.js';
import { onGoWords } from '../../words/people.js';
import { realmOfBatch } from '../batches/batch-realm.js';
import { isOver } from '../batches/batch-status.js';
import { deadLetters } from '../dead/dead-letters.js';
import { openForJudging } from '../services/recovery.js';
import { differenceToLast } from './difference.js';
import { Tokens } from './tokens.js';
import { personWith } from './who.js';

/** The second person's go. The ledger judges whether it counts (includes/gate.lua); here stands who may give it. */

/** Batches that wait for one, oldest first. */
export async function waitingForApproval(app: App): Promise<{ ref: BatchRef; view: StoredBatch }[]> {
  const found = await Promise.all(
    (await lists.everyBatchIn(app.scripts, ['asks'])).map(async (ref) => {
      const view = await readBatch(ref);
      return view !== undefined && waitsForApproval(view) ? [{ ref, view }] : [];
    }),
  );
  return found.flat().sort((one, other) => one.view.manifest.createdAt - other.view.manifest.createdAt);
}

/** Also one that is paused: whoever resumes it would find that it still waits; and one whose dead letters may not be retried. */
export function waitsForApproval({ gate, retry, state }: StoredBatch): boolean {
  return retry !== null || (gate?.closed === 'approval' && !isOver({ state }));
}

/** What a go would be for: what is to be sent, or, of a batch that has begun, the dead letters that may be retried then. */
export async function payableOf(app: App, ref: BatchRef, { gate, counts, sums }: StoredBatch) {
  if (gate !== null) return { orders: counts.planned ?? 0, tokens: sums.planned ?? 0n };
  let [orders, tokens] = [0, 0n];
  for (const state of ['refused', 'exhausted'] as const)
    for await (const letter of deadLetters(app.scripts, {
      batch: ref.id,
      realm: ref.ledger.realm.name,
      state,
    })) {
      orders += 1;
      tokens += BigInt(letter.tokens ?? 0);
    }
  return { orders, tokens };
}

/** Why it would not begin even with a go. */
export function heldBy({ state, reason }: StoredBatch) {
  if (state !== 'paused' && state !== 'halted') return null;
  return { state, message: reason?.message ?? `The batch is ${state}.` };
}

/** What a second person is shown: the same that the first one saw. */
export async function previewApproval(app: App, ref: BatchRef) {
  const view = await readBatch(ref);
  if (view === undefined)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} was never completely imported. Nothing was approved.`,
    );
  const { profile } = await realmOfBatch(app, ref);
  const { manifest } = view;
  const { orders, tokens } = await payableOf(app, ref, view);
  const isRetry = view.gate === null;
  const { credit, debit, transfer } = manifest.orders;
  const requests = requestsFor(orders, manifest.orders, manifest.certainty);
  const seconds = secondsFor(requests, profile, 0);
  const { quietHours, timezone } = profile;
  const gate = view.gate ?? (await readGate(ref));
  const { start, preparer } = gate;
  const now = Date.now();
  const begins = Math.max(start?.at ?? 0, now);
  const quiet = quietUntil(quietHours, begins);
  return {
    view,
    profile,
    orders,
    tokens,
    /** It has begun: the go is for a retry of its dead letters. */
    isRetry,
    gate,
    requests,
    seconds,
    endsAt: endOfWork(quietHours, begins, seconds * 1000),
    onGo: onGoWords({
      letters: isRetry ? orders : null,
      preparer,
      held: heldBy(view)?.message ?? null,
      start,
      now,
      quietUntil: quiet === null ? null : spellMoment(quiet, timezone),
    }),
    past: await lists.paidEver(ref.ledger),
    /** What is to be sent, apart by what it does; null for the rest of a batch that does several things. */
    amounts:
      !isRetry && manifest.duplicates === 0 && orders === credit + debit + transfer ? manifest.tokens : null,
    difference: await differenceToLast(ref, view),
  };
}
export type Approval = Awaited<ReturnType<typeof previewApproval>>;

/** Says go for exactly what `seal` stands for. `taken-up`: nobody knew who prepared it; one more has to say go. */
export async function approve(app: App, ref: BatchRef, seal: string): Promise<'approved' | 'taken-up'> {
  const { name: who } = await personWith(app, 'approver');
  await openForJudging(app, (await realmOfBatch(app, ref)).profile);
  const entry = (what: string) => ({ at: Date.now(), who, what, why: null });
  const answer = await approveBatch(
    ref,
    { who, seal },
    { go: entry('approved'), takenUp: entry('took it up: nobody knew who had prepared it') },
  );
  // Revoked in this very moment, they have said nothing: whoever revoked has withdrawn what there was before.
  if (!(await isStill(app, who))) {
    await withdrawApprovals(app.scripts, who);
    throw new AlmonerError('ALM_PEOPLE_TOKEN', `The token of ${who} counts no more. Nothing was approved.`);
  }
  switch (answer) {
    case 'approved':
    case 'taken-up':
      return answer;
    case 'same-person':
      throw new AlmonerError(
        'ALM_PEOPLE_SAME',
        `${who} prepared batch ${ref.id}, or has said go for it before. Nothing was approved.`,
      );
    case 'changed':
      throw new AlmonerError(
        'ALM_PEOPLE_CHANGED',
        `Batch ${ref.id} is not what was shown: the store was put back to an earlier time, or the id names other orders by now. Nothing was approved.`,
      );
    case 'not-needed':
      throw new AlmonerError(
        'ALM_PEOPLE_NOT_NEEDED',
        `Batch ${ref.id} waits for no second person: its realm requires none for it, or it has a go already. Nothing was done.`,
      );
    case 'disarmed':
      throw new AlmonerError(
        'ALM_LEDGER_DISARMED',
        'The store was restarted or restored, and journals that may know of payments are not merged yet. Nothing was approved.',
      );
    case 'gone':
      throw new AlmonerError(
        'ALM_BATCH_CANNOT',
        `Batch ${ref.id} is over, or was never completely imported. Nothing was approved.`,
      );
  }
}

async function isStill(app: App, who: string): Promise<boolean> {
  const known = (await new Tokens(app.scripts).list()).find(({ name }) => name === who);
  return known?.roles.includes('approver') === true;
}

/** The second person says no: it is cancelled, if it still waits for them. */
export async function refuse(app: App, ref: BatchRef, why: string): Promise<void> {
  const { name: who } = await personWith(app, 'approver');
  if ((await readBatch(ref))?.retry)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} has begun: its dead letters stay dead unless somebody says go and they are retried. Nothing was done.`,
    );
  const entry = { at: Date.now(), who, what: 'refused, and cancelled by that', why };
  const { done } = await cancelBatch(ref, entry, 'unapproved');
  if (!done)
    throw new AlmonerError(
      'ALM_PEOPLE_NOT_NEEDED',
      `Batch ${ref.id} waits for no second person any more. Nothing was refused.`,
    );
}

/**
 * Makes what a realm requires what its profile says now, also where that is less. One person asks for it, another,
 * who approves, asks for the same.
 */
export async function changeRequired(app: App, { ledger, profile }: Books) {
  const person = await personWith(app, 'approver', 'operator', 'admin');
  const { answer, first, now } = await changeRequirement(ledger, profile.approval, person);
  if (answer === 'same-person')
    throw new AlmonerError(
      'ALM_PEOPLE_SAME',
      `${first} has asked for this already; another person has to. Nothing was changed.`,
    );
  if (answer === 'not-approver')
    throw new AlmonerError(
      'ALM_PEOPLE_ROLE',
      `${first} has asked for this; ${person.name} is ${person.roles.join(' and ')}, and agreeing needs approver. Nothing was changed; what you want is noted, and ${first}, if they may approve, or another approver can agree to it.`,
    );
  return { changed: answer === 'changed', wanted: profile.approval satisfies Requirement, now };
}

/** Realms whose books require more than their profile says, and who wants them to require no more than that. */
export async function lessWanted(app: App) {
  const found = await Promise.all(
    app.config.profiles.map(async (profile) => {
      const { name: realm, approval: wanted } = profile;
      const ledger = app.ledger(profile);
      const [now, wish] = await Promise.all([readRequirement(ledger), readWish(ledger)]);
      if (isSame(strictest([now, wanted]), wanted)) return [];
      const asked = wish !== null && isSame(wish, wanted) ? { who: wish.who, at: wish.at } : null;
      return [{ realm, now, wanted, asked }];
    }),
  );
  return found.flat();
}
export type LessWanted = Awaited<ReturnType<typeof lessWanted>>[number];

function isSame(one: Requirement, other: Requirement): boolean {
  return one.overTokens === other.overTokens && one.overRows === other.overRows;
}
