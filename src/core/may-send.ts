import type { BatchState } from './states.js';

/**
 * May an order be sent, and if not, why not: each reason has its name here. Whoever refuses, waits, explains or offers a way
 * on goes by these names. The ledger's scripts ask in one order and answer the first reason that holds
 * (ledger/includes/may-send.lua). A reader knows more, such as that no worker runs. docs/architecture.md shows the table.
 */

/** Why the ledger is closed to a process that would send: recovery comes first. */
const CLOSED_LEDGER = ['format', 'lost', 'rollback', 'disarmed', 'era'] as const;

/** Why a batch may not begin. */
export const CLOSED = ['approval', 'start-time', 'start-missed'] as const;
export type Closed = (typeof CLOSED)[number];

/** What the scripts answer, in the order in which they ask. */
export const REFUSALS = [
  ...CLOSED_LEDGER,
  'halted',
  'breaker',
  'gone',
  'batch',
  'owner',
  'order',
  'recovered',
  'after-rollback',
  'not-due',
  'early',
  'quiet',
  'member-held',
  'hold-lost',
  'in-order',
  'clocks',
  'key-old',
  'instead',
  'cap',
  ...CLOSED,
] as const;
export type Refusal = (typeof REFUSALS)[number];

export function isRefusal(name: string): name is Refusal {
  return REFUSALS.some((one) => one === name);
}

export function isClosedLedger(why: Refusal): boolean {
  return CLOSED_LEDGER.some((one) => one === why);
}

/** Why orders that are neither final nor moving stand still, as told everywhere: CLI, JSON, desk, metrics. */
export const WAITING_WHYS = [
  'no-worker',
  'approval',
  'start-time',
  'start-missed',
  'paused',
  'halted',
  'disarmed',
  'after-rollback',
  'breaker',
  'hold',
  'quiet',
  'settle-time',
  'retry',
  'member-held',
  'in-order',
  'missing-session',
  'frozen-session',
  'dead-session',
  'overdue',
  'store-refuses',
  'doubt',
] as const;
export type WaitingWhy = (typeof WAITING_WHYS)[number];

/** What a person does to end it. */
type Act = 'resume' | 'begin' | 'approve' | 'resume-realm' | 'recover' | 'work' | 'wake' | 'decide';

type Meaning = {
  readonly holds: 'everything' | 'first sends' | 'the order';
  /** As `waiting` names it; null where no order stands still for it. */
  readonly shown: WaitingWhy | null;
  /** Null where it ends by itself, or never. */
  readonly act: Act | null;
  /** The state in which a batch is shown that it holds back; its own where there is none. */
  readonly state?: 'paused' | 'halted';
  /** The sentence, where it does not depend on what is at hand. */
  readonly says?: string;
};

const CLOSES = { holds: 'everything', shown: 'disarmed', act: 'recover', state: 'halted' } as const;
const NOBODY_WAITS = { shown: null, act: null } as const;

const REFUSED = {
  format: { holds: 'everything', ...NOBODY_WAITS },
  lost: { holds: 'everything', ...NOBODY_WAITS },
  rollback: CLOSES,
  disarmed: CLOSES,
  era: CLOSES,
  halted: { holds: 'everything', shown: 'halted', act: 'resume', state: 'halted' },
  breaker: {
    holds: 'everything',
    shown: 'breaker',
    act: null,
    says: 'The realm cannot be reached or gives no definite answer. It is asked again and again with one read, and goes on by itself when it is back.',
  },
  gone: { holds: 'the order', ...NOBODY_WAITS },
  batch: { holds: 'everything', ...NOBODY_WAITS },
  owner: { holds: 'everything', ...NOBODY_WAITS },
  order: { holds: 'the order', ...NOBODY_WAITS },
  recovered: { holds: 'first sends', ...NOBODY_WAITS },
  'after-rollback': {
    holds: 'first sends',
    shown: 'after-rollback',
    act: 'resume-realm',
    state: 'halted',
  },
  'not-due': { holds: 'the order', ...NOBODY_WAITS },
  early: {
    holds: 'the order',
    shown: 'retry',
    act: null,
    says: 'The last attempt came to nothing; the next one is then.',
  },
  quiet: { holds: 'first sends', shown: 'quiet', act: null },
  'member-held': { holds: 'the order', shown: 'member-held', act: null },
  'hold-lost': { holds: 'the order', ...NOBODY_WAITS },
  'in-order': {
    holds: 'the order',
    shown: 'in-order',
    act: null,
    says: 'Orders go strictly one after the other (--in-order), and the one before is not settled.',
  },
  clocks: { holds: 'the order', ...NOBODY_WAITS },
  'key-old': { holds: 'the order', ...NOBODY_WAITS },
  instead: { holds: 'the order', ...NOBODY_WAITS },
  cap: { holds: 'first sends', ...NOBODY_WAITS },
  approval: { holds: 'first sends', shown: 'approval', act: 'approve' },
  'start-time': { holds: 'first sends', shown: 'start-time', act: 'begin' },
  'start-missed': { holds: 'first sends', shown: 'start-missed', act: 'begin' },
} as const satisfies Readonly<Record<Refusal, Meaning>>;

/** What only a reader tells apart. */
const SEEN = {
  paused: {
    holds: 'everything',
    shown: 'paused',
    act: 'resume',
    state: 'paused',
    says: 'The batch is paused.',
  },
  'batch-halted': { holds: 'everything', shown: 'halted', act: 'resume', state: 'halted' },
  /** The process of a run is gone, and nobody has noted it. */
  interrupted: {
    holds: 'everything',
    shown: 'no-worker',
    act: 'resume',
    state: 'paused',
    says: 'The process that was working this run is gone. Nothing is being sent.',
  },
  /** The profiles here are not what was confirmed, and nobody works the batch who would halt it. */
  terms: { holds: 'everything', shown: 'halted', act: 'resume', state: 'halted' },
  'no-worker': { holds: 'everything', shown: 'no-worker', act: 'work' },
  merging: {
    holds: 'everything',
    shown: 'disarmed',
    act: null,
    says: 'The store was restarted, and the journals are being merged before anything is sent.',
  },
  hold: {
    holds: 'everything',
    shown: 'hold',
    act: null,
    says: 'The realm asked to wait (Retry-After), and everybody waits until then.',
  },
  'missing-session': { holds: 'the order', shown: 'missing-session', act: 'recover' },
  'frozen-session': { holds: 'the order', shown: 'frozen-session', act: 'wake' },
  'dead-session': { holds: 'the order', shown: 'dead-session', act: 'work' },
  overdue: { holds: 'the order', shown: 'overdue', act: 'recover' },
  'store-refuses': { holds: 'the order', shown: 'store-refuses', act: 'recover' },
  /** The store refuses so many results that nothing more is sent. */
  'store-refuses-many': {
    holds: 'everything',
    shown: 'store-refuses',
    act: 'recover',
    says: 'The store refuses the results of so many orders that nothing more is sent until it takes them.',
  },
  'settle-time': { holds: 'the order', shown: 'settle-time', act: null },
  doubt: {
    holds: 'the order',
    shown: 'doubt',
    act: 'decide',
    says: 'Paid or not, nobody can prove it; an operator decides.',
  },
} as const satisfies Readonly<Record<string, Meaning>>;

export const WHY_NOT = { ...REFUSED, ...SEEN };
export type WhyNot = keyof typeof WHY_NOT;

/** Those for which orders stand still. */
export type Standstill = {
  readonly [why in WhyNot]: (typeof WHY_NOT)[why]['shown'] extends null ? never : why;
}[WhyNot];

export function meaningOf(why: WhyNot): Meaning {
  return WHY_NOT[why];
}

/** The command with which a person ends it; null where none does. */
export function commandAgainst(why: WhyNot, batch: string): string | null {
  const { act } = meaningOf(why);
  switch (act) {
    case 'resume':
      return `almoner resume ${batch}`;
    case 'begin':
      return `almoner resume ${batch} --now`;
    case 'approve':
      return `almoner approve ${batch}`;
    case 'resume-realm':
      return 'almoner resume --after-rollback';
    case 'recover':
      return 'almoner recover';
    case 'work':
      return 'almoner worker';
    case 'decide':
      return `almoner doubt list --batch ${batch}`;
    case 'wake':
    case null:
      return null;
  }
}

/** A batch as the ledger has it. */
type Stored = {
  readonly state: BatchState;
  /** The ledger of its realm is closed, and a person has to decide. */
  readonly isLedgerClosed: boolean;
  readonly isRealmHalted: boolean;
  /** First sends wait for a person after a rollback. */
  readonly waitsForPerson: boolean;
  readonly closed: Closed | null;
};

/** What keeps a batch as a whole from being sent, that first which a person meets before the others. */
export function whyNotBatch({
  state,
  isLedgerClosed,
  isRealmHalted,
  waitsForPerson,
  closed,
}: Stored): readonly Standstill[] {
  const goes = state === 'running' || state === 'planned';
  const found: Standstill[] = [];
  if (state === 'paused') found.push('paused');
  if (state === 'halted') found.push('batch-halted');
  if (goes && isLedgerClosed) found.push('disarmed');
  if (goes && isRealmHalted) found.push('halted');
  if (waitsForPerson) found.push('after-rollback');
  if (closed !== null) found.push(closed);
  return found;
}

/** The state in which a batch is shown. */
export function shownState(state: BatchState, [first]: readonly Standstill[]): BatchState {
  const isOver = state === 'done' || state === 'cancelled';
  return isOver || first === undefined ? state : (meaningOf(first).state ?? state);
}

/** What a person may do about a batch at once; starting a worker is no act on a batch. */
export function actsOn(reasons: readonly Standstill[]): ReadonlySet<'resume' | 'begin' | 'recover'> {
  const acts = new Set(reasons.map((why) => meaningOf(why).act));
  // Resuming the batch alone would be refused.
  if (acts.has('recover') || acts.has('resume-realm')) return new Set(['recover']);
  return new Set((['resume', 'begin'] as const).filter((act) => acts.has(act)));
}
