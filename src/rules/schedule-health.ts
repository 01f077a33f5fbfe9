import { OUTCOMES, type ScheduleOutcome } from '../core/schedule-outcomes.js';
import type { BatchState } from '../core/states.js';
import { spellMoment } from '../core/zones.js';
import { counted } from '../words/spelling.js';
import { dealtWithUntil, type LastRun, type Said, type ScheduledRule, type WaitingRun } from './approvals.js';
import { newestTime, nextTimes } from './schedule.js';

/** The health of one schedule, for the command line, the desk and notifications. */
export type ScheduleHealth = {
  readonly realm: string;
  readonly rule: string;
  /** Stays the same as long as the time and the outcome are the same. */
  readonly key: string;
  /** The scheduled time that it is about; null before the first. */
  readonly at: number | null;
  readonly outcome: ScheduleOutcome;
  /** True if no action is needed. */
  readonly isGood: boolean;
  readonly message: string;
  /** The next step for a person. */
  readonly next: string | null;
  readonly since: number;
  readonly batch: string | null;
  /** The next scheduled time; null if it would not run. */
  readonly nextAt: number | null;
  /** Who requested the approval, while a second person has not given it. */
  readonly asked: Said | null;
  readonly paused: Said | null;
  /** A future time that a person skipped. */
  readonly skip: (Said & { readonly time: number }) | null;
};

/** The stored facts from which the health is computed. */
export type ScheduleFacts = {
  readonly realm: string;
  readonly entry: ScheduledRule;
  readonly last: LastRun | null;
  readonly waiting: WaitingRun | null;
  /** The batch of `last`, if the store has it. */
  readonly batch: {
    readonly state: BatchState;
    readonly rows: number;
    readonly unpaid: number;
    /** True if a worker or a run can send it. */
    readonly hasSender: boolean;
  } | null;
  /** When the scheduler last checked for due times. */
  readonly lookedAt: number | null;
  readonly now: number;
};

/** Every time must have an outcome within this. */
const OUTCOME_MS = 60_000;
/** The scheduler checks every half minute; beyond this it counts as absent. */
const SERVED_MS = 90_000;

/**
 * The health of a schedule: the outcome of its last due time. It is computed from the ledger alone, so every caller
 * gets the same result. A time without any record is reported too: no scheduler ran then.
 */
export function scheduleHealthOf(facts: ScheduleFacts): ScheduleHealth {
  const { realm, entry, now } = facts;
  const { rule, paused, approved } = entry;
  const latest = waitingOutcome(facts) ?? lastOutcome(facts);
  const skip = entry.skip !== null && entry.skip.time > now ? entry.skip : null;
  const [first = null, second = null] = nextTimes(entry, Math.max(now, facts.last?.at ?? 0), 2);
  const isGood = OUTCOMES[latest.outcome] === null || latest.at === null;
  return {
    realm,
    rule,
    key: [realm, rule, latest.at ?? 'none', latest.outcome].join('/'),
    ...latest,
    isGood,
    next: OUTCOMES[latest.outcome],
    nextAt: approved === null || paused !== null ? null : first === skip?.time ? second : first,
    asked: approved === null ? entry.asked && saidOf(entry.asked) : null,
    paused,
    skip,
  };
}

type TimeOutcome = Pick<ScheduleHealth, 'at' | 'outcome' | 'message' | 'since' | 'batch'>;

/** The outcome of a due time that is not handled. Null if there is none, or if it came just now. */
function waitingOutcome({ entry, last, waiting: noted, lookedAt, now }: ScheduleFacts): TimeOutcome | null {
  const until = dealtWithUntil(entry, last);
  const due = newestTime(entry, until, now);
  if (due === null) return null;
  const waiting = noted !== null && noted.at > until ? noted : null;
  const isServed = lookedAt !== null && now - lookedAt <= SERVED_MS;
  if (waiting !== null && isServed) {
    const { at, why, message, since } = waiting;
    return { at, outcome: WAITS[why], message, since, batch: null };
  }
  if (now - due <= OUTCOME_MS) return null;
  const when = spellMoment(due, entry.timezone);
  const message = isServed
    ? `The time ${when} was not handled, although the scheduler runs.`
    : `No \`almoner serve\` was running at ${when}, and none is running now.${waiting === null ? '' : ` Before that: ${waiting.message}`}`;
  return { at: due, outcome: 'unserved', message, since: due + OUTCOME_MS, batch: null };
}

const WAITS = {
  planning: 'planning',
  go: 'waits-for-go',
  realm: 'realm-away',
  store: 'store-away',
  trouble: 'trouble',
} as const satisfies Record<WaitingRun['why'], ScheduleOutcome>;

/** The outcome of the last handled time. */
function lastOutcome(facts: ScheduleFacts): TimeOutcome {
  const { entry, last } = facts;
  if (entry.approved === null) {
    return {
      at: null,
      outcome: 'waits-for-go',
      message: missingApprovalWords(entry),
      since: entry.waitsSince,
      batch: null,
    };
  }
  if (last === null)
    return {
      at: null,
      outcome: 'none',
      message: 'No scheduled time has come since the approval.',
      since: entry.approved.at,
      batch: null,
    };
  const [outcome, words] = last.result === 'enqueued' ? batchOutcome(facts) : FINAL[last.result](last);
  const missed =
    last.skipped > 0 && last.result !== 'missed'
      ? ` ${counted(last.skipped, 'time')} before it passed without a run.`
      : '';
  const said =
    last.result === 'enqueued' && last.message !== null
      ? `${words} ${last.message}`
      : (last.message ?? words);
  const message = `${said}${missed}`;
  return { at: last.at, outcome, message, since: last.finishedAt, batch: last.batch };
}

type Worded = readonly [ScheduleOutcome, words: string];

const FINAL: Readonly<Record<Exclude<LastRun['result'], 'enqueued'>, (last: LastRun) => Worded>> = {
  nothing: () => ['nothing', 'No member was due an award.'],
  stopped: () => ['stopped', 'A limit stopped the run; nothing was paid.'],
  failed: () => ['fault', 'The rule could not be run.'],
  skipped: ({ run }) => [run === null ? 'skipped' : 'unfinished', 'The time was skipped.'],
  missed: () => ['missed', 'No `almoner serve` was running at that time.'],
  paused: () => ['paused', 'The schedule was paused.'],
};

/** The outcome of a batch: being paid, waiting for a worker, halted or done. */
function batchOutcome({ batch, last }: ScheduleFacts): Worded {
  const name = `Batch ${last?.batch}`;
  if (batch === null) return ['enqueued', `${name} was enqueued.`];
  const { state, rows, unpaid } = batch;
  if (state === 'done')
    return unpaid === 0
      ? ['paid', `${name} is done: ${counted(rows, 'order')} paid.`]
      : ['unpaid', `${name} is done, and ${counted(unpaid, 'order')} of ${rows} not paid.`];
  if (state === 'cancelled') return ['cancelled', `${name} was cancelled.`];
  if (state === 'paused' || state === 'halted') return ['halted', `${name} is ${state}.`];
  return batch.hasSender
    ? ['enqueued', `${name} is being paid.`]
    : ['no-worker', `${name} is enqueued, but no worker is running, so no order is sent.`];
}

/** Explains why the schedule has no approval. */
export function missingApprovalWords({ takenBack, asked }: ScheduledRule): string {
  if (asked !== null)
    return `${asked.who} asks for approval${asked.why === null ? '' : ` (${asked.why})`}; a second person must approve it.`;
  return takenBack === null
    ? 'It waits for an approval.'
    : heldWords('The approval was withdrawn', takenBack);
}

/** Who held it back, and why. */
export function heldWords(what: string, { who, why }: Said): string {
  return `${what} by ${who}${why === null ? '.' : `: ${why}`}`;
}

/** Keeps name, time and reason, without the fields that only an approval has. */
function saidOf({ who, at, why }: Said): Said {
  return { who, at, why };
}
