import { readAt, spellMoment } from '../../core/zones.js';
import {
  CALENDAR_TIMES,
  type Calendar,
  calendarOf,
  type ListedMiss,
  type PastRun,
} from '../../operations/rules/calendar.js';
import { dismissTimes, letGoWords } from '../../operations/rules/missed.js';
import { shown } from '../../operations/views/shown.js';
import { counted, grouped, isoTime, minuteTime, utcMinute } from '../../words/spelling.js';
import { storeCommand } from '../frame/open-app.js';
import {
  argument,
  argumentList,
  flag,
  needReason,
  optionalArgument,
  REASON,
  text,
  usage,
  wholeNumber,
} from '../frame/options.js';
import type { Colours } from '../text/colours.js';

/** How many past and coming times of the schedules the calendar prints at most. */
const PAST_SHOWN = 20;
const COMING_SHOWN = 10;

/** Lists the missed, past and coming times of the schedules. */
export const calendar = storeCommand({
  name: 'rules calendar',
  description:
    'The missed times of the schedules that nobody has taken off the list, what became of the past ones, with their orders and tokens, and the coming ones.',
  arguments: { RULE: optionalArgument('the name of a rule, for its times alone') },
  options: {
    before: text('DATE', 'past times before this one; a day means its beginning, in UTC'),
    limit: wholeNumber('N', `how many past times (${PAST_SHOWN})`, { min: 1, max: 1_000 }),
  },
  examples: ['almoner rules calendar', 'almoner rules calendar weekly-thanks --limit 50'],
  run: (context) => async (app) => {
    const { output, args, options } = context;
    const before = options.before === undefined ? undefined : readTime('--before', options.before, 'UTC');
    const query = { rule: args.RULE, before, limit: options.limit ?? PAST_SHOWN };
    const found = await calendarOf(app, query);
    const [first] = found.missed;
    output.print({
      json: shown(found, CALENDAR_TIMES),
      text: calendarLines(found, output.colours),
      next:
        first !== undefined
          ? `${first.makeUp ?? first.letGo}${first.makeUp === null ? '' : `, or ${first.letGo}`}`
          : found.next !== null
            ? `almoner rules calendar${args.RULE === undefined ? '' : ` ${args.RULE}`} --before ${minuteTime(found.next)}`
            : null,
    });
  },
});

/** Missed times first, then past and coming ones. */
function calendarLines(found: Calendar, colours: Colours): string[] {
  const { missed, older, unserved, past, coming } = found;
  const nothing = missed.length + past.length + coming.length === 0;
  if (nothing) return ['No rule has a schedule, and none had one.'];
  return [
    ...(missed.length === 0 ? [] : [colours.red(`MISSED: ${counted(missed.length, 'time')} paid nobody.`)]),
    ...missed.flatMap((one) => missedLines(one)),
    ...older.map(
      ({ rule, times }) => `  ${rule}: ${grouped(times)} more before those, which the list does not hold.`,
    ),
    ...unserved.map(({ rule, message }) => `${colours.red('UNSERVED')} ${rule}: ${message}`),
    ...(past.length === 0 ? [] : [colours.bold('Past')]),
    ...past.map(pastLine),
    ...(coming.length === 0 ? [] : [colours.bold('Coming')]),
    ...coming
      .slice(0, COMING_SHOWN)
      .map(
        ({ at, rule, period, state }) =>
          `  ${utcMinute(at)}  ${rule}, ${period}${state === 'runs' ? '' : `: ${state}`}`,
      ),
    ...(coming.length > COMING_SHOWN ? [`  … and ${coming.length - COMING_SHOWN} more`] : []),
  ];
}

function missedLines({
  at,
  zone,
  rule,
  realm,
  period,
  why,
  held,
  mayBeForgotten,
  makeUp,
  letGo,
}: ListedMiss) {
  const paid = held === 0n ? 'nothing is paid or planned' : `${counted(held, 'token')} are paid or planned`;
  return [
    `  ${spellMoment(at, zone)}  ${rule} in ${realm}: ${why} In its period ${period} ${paid}.`,
    ...(mayBeForgotten
      ? ['    The store was rolled back since: the run of this time may have been forgotten with it.']
      : []),
    makeUp === null
      ? '    No rule of that name has this period any more: pay who is missing with a CSV file.'
      : `    ${makeUp}`,
    `    ${letGo}`,
  ];
}

function pastLine({ at, rule, period, outcome, message, batch, sums, dismissed }: PastRun): string {
  const amounts = Object.entries(sums ?? {})
    .filter(([, { orders }]) => orders > 0)
    .map(([what, { orders, tokens }]) => `${what} ${grouped(orders)} (${counted(tokens, 'token')})`);
  const by = dismissed === null ? null : `by ${dismissed.who}: ${dismissed.why}`;
  return [
    `  ${utcMinute(at)}  ${rule}, ${period}: ${outcome}`,
    ...[batch === null ? null : `batch ${batch}`, ...amounts, message, by].filter((one) => one !== null),
  ].join(', ');
}

/** Takes missed times off the list without paying for them. */
export const dismiss = storeCommand({
  name: 'rules dismiss',
  description:
    'Takes missed times of a rule off the list; nobody is paid for them. Calendar and audit keep the name and the reason.',
  arguments: {
    RULE: argument('the name of a rule'),
    TIME: argumentList('missed times, as `rules calendar` shows them; not needed with --all'),
  },
  options: { all: flag('every missed time of the rule'), ...REASON },
  examples: ['almoner rules dismiss weekly-thanks 2026-11-16T09:00Z --reason "paid by hand"'],
  run: (context) => async (app) => {
    const { args, options, output } = context;
    const { RULE: rule, TIME: named } = args;
    if (options.all === named.length > 0) throw usage('Name the times, or say --all. Nothing was done.');
    const why = needReason(options.reason);
    const gone = await dismissTimes(
      app,
      rule,
      (listed) =>
        options.all
          ? listed.map(({ at }) => at)
          : named.map((time) => readTime('TIME', time, listed[0]?.zone ?? 'UTC')),
      why,
    );
    output.print({
      json: { rule, dismissed: gone.map((at) => isoTime(at)) },
      text: `Off the list: ${letGoWords(rule, gone)}.`,
      next: 'almoner rules calendar',
    });
  },
});

/** Reads a scheduled time in the rule's zone. */
function readTime(what: string, given: string, zone: string): number {
  const moment = readAt(given, zone);
  if (moment !== undefined) return moment;
  throw usage(`${what}: expected a time such as 2026-11-16T09:00Z, got ${JSON.stringify(given)}`);
}
