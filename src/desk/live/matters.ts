import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { WaitingWhy } from '../../core/may-send.js';
import { memoizeLast } from '../../core/memoize-last.js';
import type { NoticeEvent } from '../../core/notice-events.js';
import type { Waiting } from '../../core/waiting.js';
import { reading } from '../../ledger/index.js';
import { askedBy, waitsForApproval } from '../../operations/approvals/approvals.js';
import { isOver } from '../../operations/batches/batch-status.js';
import type { MissedOfRealm } from '../../operations/rules/missed-counts.js';
import type { ScheduleHealth } from '../../rules/schedule-health.js';
import { counted, isoTime } from '../../words/spelling.js';
import type { Matter, RealmCard } from '../api/index.js';
import type { SeenBatch } from './batch-views.js';

export type ToldBatch = SeenBatch & { readonly waiting: readonly Waiting[] };

/** What there is to tell about one thing, and what was told of it: what is news follows from the two. */
export type Standing = Matter & {
  /** News when it changes; a number only when it grows. With `since` it tells two occurrences apart. */
  readonly mark: string | number;
  /** The batch it is about, to be told whole. */
  readonly batchSeen?: ToldBatch;
};

/** Kept in the store, by subject: a restarted desk neither repeats nor forgets. */
export const storedTold = z.object({
  marks: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
});
export type Told = z.infer<typeof storedTold>;

const BY_WHY: Partial<Readonly<Record<WaitingWhy, NoticeEvent>>> = {
  doubt: 'batch.doubt',
  halted: 'batch.halted',
  disarmed: 'batch.halted',
  paused: 'batch.paused',
  approval: 'batch.approval',
  'start-missed': 'batch.missed',
  'no-worker': 'batch.no-worker',
  'missing-session': 'batch.missing-session',
  'frozen-session': 'batch.missing-session',
  'dead-session': 'batch.missing-session',
};

/** A killed process, or an import before its worker, is no news at first: it is mostly seen to within seconds. */
const PASSING_MS = 45_000;
const OFTEN_PASSES: readonly NoticeEvent[] = ['batch.no-worker', 'batch.missing-session'];

type Facts = {
  readonly nowMs: number;
  readonly holdMs: (realm: string) => number;
  readonly realms: readonly RealmCard[];
  readonly missed: readonly MissedOfRealm[];
};

/** Worked out once for what has not changed, until something of it is no longer young. */
type Kept = { readonly found: readonly Standing[]; readonly untilMs: number };

/** Finds everything that stands, and keeps what it found of each batch, and of the very list, that it is shown again. */
export class Standings {
  private readonly byBatch = new WeakMap<ToldBatch, Kept>();
  private readonly byList = new WeakMap<readonly ToldBatch[], Kept>();
  private readonly withoutWorker = memoizeLast(withoutWorker);
  private readonly holds = memoizeLast(holds);

  /** Of everything that is seen; what waits for no person is only news (an end). */
  of(seen: readonly ToldBatch[], schedules: readonly ScheduleHealth[], facts: Facts): Standing[] {
    const { nowMs, holdMs, realms, missed } = facts;
    // Longer than somebody wants to be left alone with.
    const tooLong = this.holds(seen).filter(({ standing, lastsMs }) => lastsMs >= holdMs(standing.realm));
    return [
      ...this.ofBatches(seen, nowMs),
      ...tooLong.map(({ standing }) => standing),
      ...this.withoutWorker(seen).filter(({ since }) => nowMs - Date.parse(since) >= PASSING_MS),
      ...realms.flatMap(rollbackStanding),
      ...schedules.flatMap(scheduleStanding),
      ...missed.flatMap(missedStanding),
    ];
  }

  private ofBatches(seen: readonly ToldBatch[], nowMs: number): readonly Standing[] {
    return kept(this.byList, seen, nowMs, () => {
      const each = seen.map((batch) => this.ofBatch(batch, nowMs));
      const untilMs = firstOf(
        each.map((one) => one.untilMs),
        nowMs,
      );
      return { found: each.flatMap((one) => one.found), untilMs };
    }).found;
  }

  private ofBatch(batch: ToldBatch, nowMs: number): Kept {
    return kept(this.byBatch, batch, nowMs, () => ({
      found: batchStandings(batch, nowMs),
      untilMs: firstOf(
        batch.waiting.map(({ since }) => Date.parse(since) + PASSING_MS),
        nowMs,
      ),
    }));
  }
}

/** One for the realm and none for each of its batches: a person lets all of them go on at once. */
function rollbackStanding({ realm, waitsForPersonSince: since }: RealmCard): Standing[] {
  if (since === null) return [];
  return [
    {
      event: 'realm.after-rollback',
      subject: `recovery of ${realm}`,
      realm,
      batch: null,
      rule: null,
      message: `New payments of realm ${realm} wait for you: its store was rolled back and may have lost a pause or a cancel. Cancel any batch you no longer want, then resume.`,
      next: `almoner resume --after-rollback --realm ${realm}`,
      since,
      mark: since,
    },
  ];
}

/** Every time of a schedule is told of, once it has its outcome. */
const STILL_COMING: readonly ScheduleHealth['outcome'][] = ['none', 'planning', 'enqueued'];

function scheduleStanding(schedule: ScheduleHealth): Standing[] {
  const { realm, rule, key, outcome, isGood, message, next, since, asked } = schedule;
  if (STILL_COMING.includes(outcome)) return [];
  const troubled = outcome === 'waits-for-go' ? 'schedule.waits' : 'schedule.failed';
  const event = isGood && outcome !== 'waits-for-go' ? 'schedule.done' : troubled;
  // Asked for, it waits for another person than before.
  const mark = asked === null ? key : `${key} ${asked.who} ${asked.at}`;
  const about = { subject: `schedule ${realm}/${rule}`, realm, batch: null, rule, next, mark };
  return [{ ...about, event, message: `Schedule of rule ${rule}: ${message}`, since: isoTime(since) }];
}

/** Told again when one more stands on the list; it ends when a person has taken the last one off. */
function missedStanding({ realm, times, rules, since }: MissedOfRealm): Standing[] {
  if (since === null) return [];
  const named = rules.map((one) => `${one.rule} (${one.times + one.older})`).join(', ');
  return [
    {
      event: 'schedule.missed',
      subject: `missed times of ${realm}`,
      realm,
      batch: null,
      rule: null,
      message: `${counted(times, 'scheduled time')} of realm ${realm} paid nobody, because nothing ran: ${named}.`,
      next: 'almoner rules calendar',
      since: isoTime(since),
      mark: times,
    },
  ];
}

function kept<Of extends object>(all: WeakMap<Of, Kept>, of: Of, nowMs: number, work: () => Kept): Kept {
  const before = all.get(of);
  if (before !== undefined && nowMs < before.untilMs) return before;
  const now = work();
  all.set(of, now);
  return now;
}

/** The first of the times that are still ahead. */
function firstOf(times: readonly number[], nowMs: number): number {
  return times.reduce((first, at) => (at > nowMs && at < first ? at : first), Number.POSITIVE_INFINITY);
}

function batchStandings(seen: ToldBatch, nowMs: number): Standing[] {
  const { view, waiting } = seen;
  const { realm, batch, source } = view.manifest;
  const about = { subject: batchSubject(view.manifest), realm, batch, rule: null, batchSeen: seen };
  const found = new Map<NoticeEvent, Waiting[]>();
  for (const one of waiting) {
    const event = BY_WHY[one.why];
    if (event === undefined || one.next === null || waitsForWorkers(view, one)) continue;
    if (OFTEN_PASSES.includes(event) && nowMs - Date.parse(one.since) < PASSING_MS) continue;
    found.set(event, [...(found.get(event) ?? []), one]);
  }
  const standings: Standing[] = [...found].map(([event, causes]) => ({
    ...about,
    event,
    message: `${source}: ${causes.map(({ message }) => message).join(' ')}`,
    next: causes[0]?.next ?? null,
    since: firstSince(causes) ?? isoTime(nowMs),
    mark: markOf(event, causes, view.reason?.code ?? ''),
  }));
  // Who resumes it would find that it still waits for a second person.
  if (waitsForApproval(view) && !found.has('batch.approval'))
    standings.push({
      ...about,
      event: 'batch.approval',
      message:
        view.retry === null
          ? `${source}: ${reading.reasons.approvalNeeded(askedBy(view))} It is ${view.state} as well.`
          : `${source}: a retry of its dead letters waits. ${reading.reasons.approvalNeeded(askedBy(view))}`,
      next: `almoner approve ${batch}`,
      since: isoTime(view.manifest.createdAt),
      mark: view.retry?.hash ?? 'approval',
    });
  if (isOver(view) && view.finishedAt !== null)
    standings.push({
      ...about,
      event: 'batch.finished',
      message: `${source} ${view.state === 'done' ? 'is done' : 'was cancelled'}.`,
      next: null,
      since: isoTime(view.finishedAt),
      mark: `${view.state} ${view.finishedAt}`,
    });
  return standings;
}

function markOf(event: NoticeEvent, causes: readonly Waiting[], reason: string): string | number {
  if (event === 'batch.doubt') return ordersOf(causes);
  if (event === 'batch.missing-session')
    return causes
      .map(({ session }) => session ?? '')
      .sort()
      .join(' ');
  return event === 'batch.halted' ? reason : (causes[0]?.why ?? '');
}

/** No worker is a matter of the realm, however many batches wait; a run waits for a process of its own. */
function waitsForWorkers({ owner }: ToldBatch['view'], { why }: Waiting): boolean {
  return why === 'no-worker' && owner === '';
}

function withoutWorker(seen: readonly ToldBatch[]): Standing[] {
  const found = new Map<string, Waiting[]>();
  for (const { view, waiting } of seen)
    for (const one of waiting) {
      if (!waitsForWorkers(view, one)) continue;
      const { realm } = view.manifest;
      const causes = found.get(realm);
      if (causes === undefined) found.set(realm, [one]);
      else causes.push(one);
    }
  return [...found].map(([realm, causes]) => ({
    event: 'batch.no-worker',
    subject: `workers of ${realm}`,
    realm,
    batch: null,
    rule: null,
    message: `${causes[0]?.message} Waiting in realm ${realm}: ${counted(ordersOf(causes), 'order')} in ${counted(causes.length, 'batch', 'batches')}.`,
    next: 'almoner worker',
    since: firstSince(causes) ?? '',
    mark: 'no-worker',
  }));
}

function firstSince(causes: readonly Waiting[]): string | undefined {
  return causes.map(({ since }) => since).sort()[0];
}

function ordersOf(causes: readonly Waiting[]): number {
  return causes.reduce((sum, { orders }) => sum + orders, 0);
}

type Hold = { readonly standing: Standing & { readonly realm: string }; readonly lastsMs: number };

/** The longest of each realm that asked to wait. */
function holds(seen: readonly ToldBatch[]): Hold[] {
  const found = new Map<string, Hold>();
  for (const { view, waiting } of seen) {
    const { realm } = view.manifest;
    const hold = waiting.find(({ why }) => why === 'hold');
    if (hold?.until == null) continue;
    const lastsMs = Date.parse(hold.until) - Date.parse(hold.since);
    if (lastsMs < (found.get(realm)?.lastsMs ?? 0)) continue;
    const standing: Hold['standing'] = {
      event: 'realm.hold',
      subject: `realm ${realm}`,
      realm,
      batch: null,
      rule: null,
      message: `Realm ${realm}: ${hold.message} It asked to wait until ${hold.until}.`,
      next: `almoner pace --realm ${realm}`,
      since: hold.since,
      mark: hold.until,
    };
    found.set(realm, { standing, lastsMs });
  }
  return [...found.values()];
}

/** The realm is part of it, because an id given with --batch-id may stand in two realms. */
export function batchSubject({ realm, batch }: { readonly realm: string; readonly batch: string }): string {
  return `${realm}/${batch}`;
}

/** Neither a realm nor a batch has a blank in its name; every other subject has. */
export function isBatch(subject: string): boolean {
  return !subject.includes(' ');
}

const STORE = 'the store';
/** Noted at the first look: what ended long before it is history, and what ended since is news however late. */
export const BEGUN = 'the desk';

export function storeAway(sinceMs: number, untilMs: number | null): Matter {
  const lasted = untilMs === null ? 'does not answer' : `did not answer until ${isoTime(untilMs)}`;
  return {
    event: 'store.away',
    subject: STORE,
    realm: null,
    batch: null,
    rule: null,
    message: `The store ${lasted}, since ${isoTime(sinceMs)}. Nothing is sent meanwhile, and nothing is lost.`,
    next: untilMs === null ? 'almoner doctor' : null,
    since: isoTime(sinceMs),
  };
}

/** What of a subject is news since it was last told of. */
export function newsOf(standings: readonly Standing[], told: Told | null): Standing[] {
  return standings.filter(({ event, mark }) => {
    const before = told?.marks[event];
    if (before === undefined || typeof before !== typeof mark) return true;
    return typeof mark === 'number' ? mark > Number(before) : mark !== before;
  });
}

export function marksOf(standings: readonly Standing[]): Told['marks'] {
  return Object.fromEntries(standings.map(({ event, mark }) => [event, mark]));
}

/** The same for every desk that sees the same occurrence, and after a kill in between: who receives it can tell. */
export function noticeId(
  target: string,
  { subject, event, mark, since }: Pick<Standing, 'subject' | 'event' | 'mark' | 'since'>,
): string {
  const parts = JSON.stringify([target, subject, event, mark, since]);
  return `msg_${createHash('sha256').update(parts).digest('hex').slice(0, 32)}`;
}

/** What is shown to people and programs of it. */
export function matterOf({ mark: _, batchSeen: __, ...matter }: Standing): Matter {
  return matter;
}
