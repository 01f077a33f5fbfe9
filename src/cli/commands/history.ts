import { isMemberId, MEMBER_ID_DIGITS_MAX } from '../../core/ids.js';
import { type HistoryEntry, memberHistory } from '../../operations/batches/member-history.js';
import { counted, grouped } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, text, usage } from '../frame/options.js';
import { oneLine, slowProgress } from '../text/order-text.js';

export const command = defineCommand({
  name: 'history',
  description: 'Every order that ever touched a member, in all realms of the books, newest last.',
  arguments: { MEMBER: argument('the member id: decimal digits') },
  options: { since: text('DATE', 'only from this day or time on, such as 2026-05-01 (UTC), or 30d, 12h') },
  examples: ['almoner history 119876543210987654', 'almoner history 119876543210987654 --since 30d'],
  run: async (context) => {
    const { output, args, options } = context;
    const member = args.MEMBER;
    if (!isMemberId(member))
      throw usage(
        `expected a member id of 1 to ${MEMBER_ID_DIGITS_MAX} digits, got ${JSON.stringify(member)}`,
      );
    const since = readSince(options.since, Date.now());
    return withApp<ExitStatus>(context, 'history', async (app) => {
      const tell = slowProgress(
        output.note,
        (done, of) => `looked at ${grouped(done)} of ${grouped(of)} rows`,
      );
      const orders = await memberHistory(app.scripts, member, {
        realm: context.global.realm,
        since,
        onScanned: ({ rows, ofRows }) => tell(rows, ofRows),
      });
      output.print({
        json: { member, since: since === null ? null : new Date(since).toISOString(), orders },
        text: [
          orders.length === 0
            ? `No order in these books touched member ${member}${since === null ? '' : ' since then'}.`
            : `${counted(orders.length, 'order')} touched member ${member}:`,
          ...orders.map(entryLine),
        ],
        next: orders.length === 0 ? null : 'almoner dead show ORDER tells what one of them met',
      });
      return 0;
    });
  },
});

function entryLine(entry: HistoryEntry): string {
  const when = entry.at.slice(0, 19).replace('T', ' ');
  const tokens = grouped(entry.tokens ?? 0);
  return [
    `  ${when}`,
    entry.rehearsal ? 'REHEARSAL' : entry.realm,
    entry.order,
    `${effect(entry)} ${tokens}`,
    [entry.state, ...entry.marks].join(', '),
    entry.reason === null ? '' : oneLine(entry.reason),
    entry.reference === null ? '' : `[${oneLine(entry.reference)}]`,
  ]
    .filter((cell) => cell !== '')
    .join('  ');
}

function effect({ op, role, counterpart }: HistoryEntry): string {
  if (op !== 'transfer') return op ?? 'no order';
  return role === 'member' ? `transfer to ${counterpart}` : `transfer from ${counterpart}`;
}

const UNIT_MS = { d: 86_400_000, h: 3_600_000 } as const;

function readSince(given: string | undefined, now: number): number | null {
  if (given === undefined) return null;
  const back = /^([0-9]{1,5})([dh])$/.exec(given);
  if (back !== null) return now - Number(back[1]) * UNIT_MS[back[2] === 'd' ? 'd' : 'h'];
  // A day alone is a day in UTC; a time without a zone is taken as UTC too, like everything that is printed.
  const match = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?)?$/.exec(given);
  const zoned = match?.[1] === undefined || match[3] !== undefined ? given : `${given}Z`;
  const at = match === null ? Number.NaN : Date.parse(zoned.replace(' ', 'T'));
  if (Number.isNaN(at))
    throw usage(`--since: expected a date such as 2026-05-01 or 30d, got ${JSON.stringify(given)}`);
  return at;
}
