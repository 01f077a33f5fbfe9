import { join, resolve } from 'node:path';
import { currencyOption, inCurrency } from '../../core/currencies.js';
import { isRecordedMemberId } from '../../core/ids.js';
import { oneLine } from '../../core/one-line.js';
import { findBatch } from '../../ledger/index.js';
import { isRehearsalOfItsOwn, realmOfBatch } from '../../operations/batches/batch-realm.js';
import { reportBatch } from '../../operations/batches/report.js';
import { type Undo, type UndoWish, writeUndo } from '../../operations/batches/undo.js';
import { memberHistory } from '../../operations/orders/member-history.js';
import type { HistoryEntry } from '../../operations/views/order.js';
import { writeRows } from '../../report/staging.js';
import { pacedReads } from '../../runtime/paced-reads.js';
import { amountsWords, effectWords } from '../../words/amounts.js';
import { counted, grouped } from '../../words/spelling.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, BATCH, flag, notAMemberId, text, texts, usage } from '../frame/options.js';
import { readSince } from '../frame/since.js';
import { slowProgress } from '../text/order-text.js';

/** Writes the report files of a batch again, from the ledger or the archive. */
export const report = storeCommand({
  name: 'report',
  description: 'Writes the report files of a batch again from the ledger, at any time, also half-way.',
  arguments: BATCH,
  options: {
    out: text('DIR', 'the folder for reports; the batch gets a folder of its own in it'),
    public: flag('only member, tokens, reason, time and sums, to be shown to the community'),
  },
  examples: ['almoner report last', 'almoner report last --public --out /srv/www'],
  run: (context) => async (app) => {
    const { output, args, options, cwd } = context;
    const ref = await findBatch(app.scripts, args.BATCH, context.global.realm, { lookingOnly: true });
    const { folder, files } = await reportBatch(ref, app.config, {
      out: options.out === undefined ? undefined : resolve(cwd, options.out),
      public: options.public,
    });
    const { rehearsal, name } = ref.ledger.realm;
    output.print({
      json: { batch: ref.id, realm: name, rehearsal, public: options.public, report: folder, files },
      text: [
        ...(rehearsal ? [output.colours.yellow('REHEARSAL: no real points moved.')] : []),
        `Report of batch ${ref.id}: ${folder}`,
        ...files.map((file) => `  ${file}`),
      ],
      next: `open ${join(folder, options.public ? 'public.html' : 'report.html')}`,
    });
  },
});

/** Lists every order that ever touched a member, in all realms. */
export const history = storeCommand({
  name: 'history',
  description: 'Every order that ever touched a member, in all realms of the ledger, newest last.',
  arguments: { MEMBER: argument('the member id: decimal digits') },
  options: { since: text('DATE', 'only from this day or time on, such as 2026-05-01 (UTC), or 30d, 12h') },
  examples: ['almoner history 119876543210987654', 'almoner history 119876543210987654 --since 30d'],
  run: ({ output, args, options, global }) => {
    const member = args.MEMBER;
    if (!isRecordedMemberId(member)) throw notAMemberId(member);
    const since = readSince(options.since, Date.now());
    return async (app) => {
      const tell = slowProgress(
        output.note,
        (done, of) => `looked at ${grouped(done)} of ${counted(of, 'row')}`,
      );
      const orders = await memberHistory(app.scripts, member, {
        realm: global.realm,
        since,
        onScanned: ({ rows, ofRows }) => tell(rows, ofRows),
      });
      output.print({
        json: { member, since: since === null ? null : new Date(since).toISOString(), orders },
        text: [
          orders.length === 0
            ? `No order in this ledger touched member ${member}${since === null ? '' : ' since then'}.`
            : `${counted(orders.length, 'order')} touched member ${member}:`,
          ...orders.map((entry) => entryLine(entry, member)),
        ],
        next: orders.length === 0 ? null : 'almoner dead show ORDER tells what one of them met',
      });
    };
  },
});

/** One order of a member's history on one line. */
function entryLine(entry: HistoryEntry, member: string): string {
  const when = entry.at.slice(0, 19).replace('T', ' ');
  return [
    `  ${when}`,
    entry.rehearsal ? 'REHEARSAL' : entry.realm,
    entry.order,
    `${effectWords(entry, member)}${inCurrency(entry.currency)}`,
    [entry.state, ...entry.marks].join(', '),
    entry.reason === null ? '' : oneLine(entry.reason),
    entry.reference === null ? '' : `[${oneLine(entry.reference)}]`,
  ]
    .filter((cell) => cell !== '')
    .join('  ');
}

/** Writes the CSV that takes a batch's paid orders back. Running that file is a normal run. */
export const undo = storeCommand({
  name: 'undo',
  description:
    'Writes the CSV that takes back what a batch paid. It sends nothing: running the file is a normal `almoner run`.',
  arguments: BATCH,
  options: {
    out: text('FILE', 'where to write it (default: undo-BATCH.csv here)'),
    only: texts('MEMBER|LINE', 'take back only orders of this member, or on this line of the file'),
    check: flag('read what the members hold, and name those who hold too little; the file takes all'),
    takeLeft: flag('of members who hold too little, take what is left'),
    skipShort: flag('leave out orders whose members hold too little'),
  },
  examples: [
    'almoner undo last',
    'almoner undo last --only 119876543210987654 --take-left',
    'almoner run undo-7k3m9q2x4v8w.csv',
  ],
  run: (context) => async (app) => {
    const { output, args, options, cwd } = context;
    const ref = await findBatch(app.scripts, args.BATCH, context.global.realm);
    const name = options.out ?? `undo-${ref.id}.csv`;
    if ([options.check, options.takeLeft, options.skipShort].filter(Boolean).length > 1)
      throw usage('Give one of --check, --take-left and --skip-short.');
    const read = options.check || options.takeLeft || options.skipShort ? await realmOfBatch(app, ref) : null;
    const wish: UndoWish = {
      only: options.only,
      readIn: read && ((currency) => pacedReads(read, currency).member),
      short: options.takeLeft ? 'left' : options.skipShort ? 'skip' : 'whole',
    };
    const { written: undone, file } = await writeRows(resolve(cwd, name), (add) =>
      writeUndo(ref, app.config, add, wish),
    );
    const { rehearsal, name: realm } = ref.ledger.realm;
    output.print({
      json: { batch: ref.id, realm, rehearsal, file, ...undone },
      text: undoLines(undone, name, ref.id),
      next: isRehearsalOfItsOwn(app.config, ref.ledger.realm)
        ? 'nothing: the realm of a rehearsal is its own, so the file is only to be looked at'
        : nextOfUndo(undone, name, ref.id),
    });
  },
});

function undoLines(undo: Undo, name: string, batch: string): string[] {
  return [
    undo.rows === 0
      ? `Batch ${batch} holds nothing that could be taken back; no file was written.`
      : `${name} takes back ${counted(undo.rows, 'order')}: ${amountsWords(undo.amounts)} tokens. Nothing was sent.`,
    ...leftOut(undo),
    ...restLines(undo),
    ...shortLines(undo),
    ...(undo.paidOnWord.length === 0
      ? []
      : [
          `${counted(undo.paidOnWord.length, 'order')} paid only on an operator’s word: in the file, check them: ${named(undo.paidOnWord)}`,
        ]),
  ];
}

/** Orders that were taken back in part before, with the rest. */
function restLines({ rest }: Undo): string[] {
  const lines = rest
    .slice(0, SHORT_SHOWN)
    .map(
      ({ order, taken, left }) =>
        `  ${order}: ${counted(BigInt(taken), 'token')} taken back before, ${grouped(left)} left`,
    );
  return rest.length === 0
    ? []
    : [`${counted(rest.length, 'order was', 'orders were')} taken back in part before:`, ...lines];
}

/** Members whose balance is too small to take the tokens back. */
function shortLines({ short }: Undo): string[] {
  if (short.length === 0) return [];
  const lines = short
    .slice(0, SHORT_SHOWN)
    .map(({ member, wanted, balance }) =>
      balance === null
        ? `  ${member} is not known to the realm; ${grouped(wanted)} to be taken back`
        : `  ${member} holds ${grouped(balance)} of ${grouped(wanted)} to be taken back`,
    );
  const more =
    short.length > SHORT_SHOWN
      ? [`  and ${grouped(short.length - SHORT_SHOWN)} more (--json names all)`]
      : [];
  return [`${counted(short.length, 'member holds', 'members hold')} too little:`, ...lines, ...more];
}

const SHORT_SHOWN = 20;

function leftOut(undo: Undo): string[] {
  const orders = undo.leftOut.reduce((sum, each) => sum + each.orders, 0);
  if (orders === 0) return [];
  return [
    `Left out: ${counted(orders, 'row')}.`,
    ...undo.leftOut.map(
      (each) =>
        `  ${counted(each.orders, 'order')} (${amountsWords(each.amounts)}), ${each.message}: ${named(each.named, each.orders)}`,
    ),
  ];
}

function named(orders: readonly string[], count = orders.length): string {
  const some = orders.slice(0, 10);
  return `${some.join(', ')}${count > some.length ? ', …' : ''}`;
}

function nextOfUndo(undo: Undo, name: string, batch: string): string | null {
  if (undo.rows > 0) return `look at it, then almoner run ${name}${currencyOption(undo.currency)}`;
  if (undo.doubts.length > 0) return `almoner doubt list --batch ${batch}`;
  return undo.leftOut.some(({ why }) => why === 'undo-in-doubt') ? 'almoner doubt list' : null;
}
