import { readStatement, statementCsv } from '../../operations/totals/statement.js';
import { pickProfile } from '../../runtime/config/config.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, flag, usage } from '../frame/options.js';
import { statementLines } from '../text/stats-text.js';

/** Prints what was paid in a month, by realm and currency, for accounting. */
export const statement = storeCommand({
  name: 'statement',
  archives: false,
  description:
    'What was paid in a month of UTC, over all batches, by realm and currency: given, taken, moved, net, and what is still open. An order is of the month in which it was sent. Rehearsals are in it only with --realm.',
  arguments: { MONTH: argument('such as 2026-11') },
  options: { csv: flag('print CSV') },
  examples: ['almoner statement 2026-11', 'almoner statement 2026-11 --csv > 2026-11.csv'],
  run: ({ output, args, options, global }) => {
    const { MONTH: month } = args;
    if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
      throw usage(`expected a month such as 2026-11, got ${JSON.stringify(month)}`);
    return async (app) => {
      const found = await readStatement(app.scripts, month, global.realm ?? null, Date.now());
      if (found.lines.length === 0 && global.realm !== undefined) pickProfile(app.config, global.realm);
      output.print({
        json: found,
        text: options.csv ? statementCsv(found).trimEnd() : statementLines(found),
        next: options.csv ? null : `almoner statement ${month} --csv > ${month}.csv`,
      });
      return 0;
    };
  },
});
