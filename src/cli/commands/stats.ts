import { SPANS, STATS_TABLES } from '../../core/spans.js';
import { readStats } from '../../operations/totals/stats.js';
import { statsCsv } from '../../operations/totals/stats-csv.js';
import { pickProfile } from '../../runtime/config/config.js';
import { storeCommand } from '../frame/open-app.js';
import { choice, flag, text, usage } from '../frame/options.js';
import { statsLines } from '../text/stats-text.js';

/** Prints what was paid, refused and in doubt over time. */
export const stats = storeCommand({
  name: 'stats',
  archives: false,
  description:
    'What was paid in each realm by day, week or month of UTC, how the realm answered, and the same number of days before. An order counts on the day on which it was sent. Archived batches are in it.',
  options: {
    by: choice(SPANS, 'what a line is; day where nothing is said'),
    since: text(
      'DAY',
      'the first day, such as 2026-11-03; a fortnight, twelve weeks or twelve months where nothing is said',
    ),
    until: text('DAY', 'the last day; today where nothing is said'),
    csv: flag('print CSV'),
    of: choice(STATS_TABLES, 'what the CSV is of; outcomes where nothing is said'),
  },
  examples: [
    'almoner stats',
    'almoner stats --by month --realm guild',
    'almoner stats --csv --of rules > rules.csv',
  ],
  run: ({ output, options, global }) => {
    const { by = 'day', of = 'outcomes' } = options;
    const [since, until] = [dayGiven('--since', options.since), dayGiven('--until', options.until)];
    if (options.of !== undefined && !options.csv) throw usage('--of says what --csv prints');
    return async (app) => {
      const asked = { realm: global.realm ?? null, by, since, until };
      const found = await readStats(app.scripts, asked, Date.now());
      // `pickProfile` refuses a realm that is neither configured nor in the ledger.
      if (found.realms.length === 0 && global.realm !== undefined) pickProfile(app.config, global.realm);
      const lines = found.realms.flatMap((realm, at) => [
        ...(at === 0 ? [] : ['']),
        ...statsLines(realm, output.colours.bold),
      ]);
      output.print({
        json: found,
        text: options.csv
          ? statsCsv(found, of).trimEnd()
          : lines.length === 0
            ? 'Nothing was sent yet.'
            : lines,
        next: options.csv ? null : `almoner statement ${found.to.slice(0, MONTH_LENGTH)}`,
      });
      return 0;
    };
  },
});

const MONTH_LENGTH = 'YYYY-MM'.length;

/** Reads a day option as a day in UTC. */
function dayGiven(name: string, given: string | undefined): string | null {
  if (given === undefined) return null;
  const isDay =
    /^\d{4}-\d{2}-\d{2}$/.test(given) && new Date(`${given}T00:00:00Z`).toJSON()?.startsWith(given);
  if (isDay === true) return given;
  throw usage(`${name}: expected a day such as 2026-11-03, got ${JSON.stringify(given)}`);
}
