import { notes, type RealmLedger, storeNowMs } from '../../ledger/index.js';
import { type ScheduledRule, scheduledRules } from '../../rules/approvals.js';
import { periodName } from '../../rules/calendar.js';
import { type MissedTime, missedTimes, type PastTime, pastTimes } from '../../rules/missed.js';
import { nextTimes } from '../../rules/schedule.js';
import type { App } from '../../runtime/app.js';
import { minuteTime } from '../../words/spelling.js';
import type { Calendar as CalendarView } from '../views/calendar.js';
import type { Raw } from '../views/shown.js';
import { scheduleStandings } from './standings.js';
import { batchOf } from './unfinished-runs.js';

/** Past and coming times of all schedules, and the missed ones that a person has not taken off the list. */
export type Calendar = Raw<CalendarView, CalendarTime, 'held' | 'tokens'>;
export type ListedMiss = Calendar['missed'][number];
export type PastRun = Calendar['past'][number];
type ComingRun = Calendar['coming'][number];

type CalendarTime = (typeof CALENDAR_TIMES)[number];
export const CALENDAR_TIMES = ['now', 'at', 'notedAt', 'next'] as const;

export type CalendarQuery = {
  readonly rule?: string | undefined;
  /** Only what lies before this moment is listed of the past. */
  readonly before?: number | undefined;
  readonly limit: number;
};

const COMING_MS = 31 * 24 * 3_600_000;
/** Of each rule. */
const COMING_MAX = 40;

export async function calendarOf(app: App, query: CalendarQuery): Promise<Calendar> {
  const realms = await Promise.all(
    app.config.profiles.map((profile) => realmCalendar(profile.name, app.ledger(profile), query)),
  );
  const past = realms.flatMap((realm) => realm.past).sort((a, b) => b.at - a.at);
  // Times that two rules share stand on one page: the next one begins before them.
  const last = past[query.limit - 1]?.at ?? Number.NEGATIVE_INFINITY;
  const page = past.filter(({ at }) => at >= last);
  const standings = await scheduleStandings(app);
  return {
    now: realms[0]?.now ?? 0,
    missed: realms.flatMap(({ missed }) => missed).sort((a, b) => b.at - a.at),
    older: realms.flatMap(({ older }) => older),
    unserved: standings
      .filter(({ outcome, rule }) => outcome === 'unserved' && isWanted(query, rule))
      .map(({ realm, rule, message }) => ({ realm, rule, message })),
    past: await Promise.all(page.map(({ ledger, ...one }) => pastRun(ledger, one))),
    next: past.length > page.length ? last : null,
    coming: realms.flatMap(({ coming }) => coming).sort((a, b) => a.at - b.at),
  };
}

const isWanted = ({ rule }: CalendarQuery, name: string) => rule === undefined || rule === name;

async function realmCalendar(realm: string, ledger: RealmLedger, query: CalendarQuery) {
  const [entries, rules, counts, now] = await Promise.all([
    scheduledRules(ledger),
    notes.scheduledTimes.rulesWithPast(ledger),
    notes.scheduledTimes.missedCounts(ledger),
    storeNowMs(ledger),
  ]);
  const listed = counts.filter(({ rule }) => isWanted(query, rule));
  const missed = (await Promise.all(listed.map(({ rule }) => missedTimes(ledger, rule)))).flat();
  const before = query.before ?? now + 1;
  const past = rules
    .filter((rule) => isWanted(query, rule))
    .map(async (rule) => {
      const isListed = (at: number) => missed.some((one) => one.rule === rule && one.at === at);
      const times = await pastTimes(ledger, rule, before, query.limit + 1);
      return times.filter(({ at }) => !isListed(at)).map((one) => ({ ...one, realm, rule, ledger }));
    });
  return {
    now,
    missed: missed.map((one) => listedMiss(realm, entries, one)),
    older: listed.filter(({ older }) => older > 0).map(({ rule, older }) => ({ realm, rule, times: older })),
    past: (await Promise.all(past)).flat(),
    coming: entries
      .filter(({ rule }) => isWanted(query, rule))
      .flatMap((entry) => comingRuns(realm, entry, now)),
  };
}

function listedMiss(realm: string, entries: readonly ScheduledRule[], missed: MissedTime): ListedMiss {
  const { rule, at, period } = missed;
  const entry = entries.find((one) => one.rule === rule);
  const isSame = entry !== undefined && periodName(entry.period, at, entry.timezone) === period;
  const time = minuteTime(at);
  return {
    ...missed,
    realm,
    makeUp: isSame ? `almoner rules run ${rule} --missed ${time}` : null,
    letGo: `almoner rules dismiss ${rule} ${time} --reason "…"`,
  };
}

async function pastRun(
  ledger: RealmLedger,
  {
    at,
    period,
    realm,
    rule,
    result,
    message,
    batch: noted,
    dismissed,
  }: PastTime & Pick<PastRun, 'realm' | 'rule'>,
): Promise<PastRun> {
  const batch = dismissed?.batch ?? noted ?? null;
  const view = await batchOf(ledger, { batch });
  const sum = (...states: readonly (keyof NonNullable<typeof view>['counts'])[]) => ({
    orders: states.reduce((all, state) => all + (view?.counts[state] ?? 0), 0),
    tokens: states.reduce((all, state) => all + (view?.sums[state] ?? 0n), 0n),
  });
  return {
    ...{ at, period, realm, rule, message, batch, dismissed },
    outcome:
      dismissed === null
        ? result === 'enqueued' && view !== undefined
          ? view.state
          : result
        : dismissed.batch === null
          ? 'let go'
          : 'made up',
    sums:
      view === undefined
        ? null
        : {
            paid: sum('paid'),
            refused: sum('refused', 'exhausted', 'invalid'),
            doubt: sum('doubt'),
            open: sum('planned', 'sending', 'unknown'),
          },
  };
}

function comingRuns(realm: string, entry: ScheduledRule, now: number): ComingRun[] {
  const { rule, paused, approved, skip, period, timezone } = entry;
  return nextTimes(entry, now, COMING_MAX)
    .filter((at) => at <= now + COMING_MS)
    .map((at) => ({
      realm,
      rule,
      at,
      period: periodName(period, at, timezone),
      state:
        approved === null
          ? 'waits for approval'
          : paused !== null
            ? 'paused'
            : skip?.time === at
              ? 'skipped'
              : 'runs',
    }));
}
