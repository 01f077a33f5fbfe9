import { CATALOGUE } from '../../core/errors/catalogue.js';
import { OPS } from '../../core/order.js';
import type { RealmProfile } from '../../core/profile.js';
import { spellMoment } from '../../core/zones.js';
import { columnsWords, findingWords } from '../../csv/column-words.js';
import type { Finding } from '../../csv/row.js';
import type { Manifest, planning, RowView } from '../../ledger/index.js';
import { type Approval, waitsForApproval } from '../../operations/approvals/approvals.js';
import type { OrderChange } from '../../operations/approvals/difference.js';
import { isOver } from '../../operations/batches/batch-status.js';
import type { Planned } from '../../operations/pay/plan-file.js';
import type { BooksPast } from '../../planning/preview.js';
import { absoluteWords, amountsWords, orderWords, signed } from '../../words/amounts.js';
import { isOfRow } from '../../words/faults.js';
import { allowedWords, counted, grouped, roughly, utcMinute } from '../../words/spelling.js';
import type { Colours } from './colours.js';

/** A plan in words. The JSON document of the contract is made by the planning itself. */
export function planLines(
  { plan, preview }: Planned,
  profile: RealmProfile,
  ledger: { readonly at: string; readonly past: BooksPast },
  colours: Colours,
): string[] {
  const { totals } = plan;
  const facts = previewFacts({
    ...totals,
    ...preview,
    profile: { ...profile, currency: plan.currency },
    ledger,
    table: plan.table,
    source: plan.source,
    duplicatesOf: plan.spent.batches,
    toSend: toSendWords(plan.existing, preview),
    batch: batchWords(plan),
    columns: plan.found && columnsWords(plan.found),
    first: plan.firstOrders.map(orderWords),
  });
  return [...factLines(facts, profile, colours), ...netEffectLines(totals.busiest)];
}

/**
 * A batch that waits for an approval, in words: the plan, the person who asked, and the difference from the last
 * comparable batch.
 */
export function approvalLines(shown: Approval, ledgerAt: string, colours: Colours): string[] {
  const { view, profile, requests, seconds, endsAt, after, past, amounts, difference, letters } = shown;
  const { manifest } = view;
  const { again, createdAt, sha256 } = manifest;
  const payable = { payable: shown.orders, payableTokens: shown.tokens, amounts };
  const facts = previewFacts({
    ...manifest,
    profile: {
      ...profile,
      currency: manifest.currency,
      certainty: manifest.certainty,
      baseUrl: manifest.baseUrl,
    },
    ledger: { at: ledgerAt, past },
    duplicatesOf: [],
    dayLeft: null,
    requests,
    seconds,
    // The set time may be over by now, so that the row `Approving` says when the batch begins.
    start: null,
    endsAt,
    toSend:
      letters !== null
        ? `${counted(shown.orders, 'dead letter')}, ${counted(shown.tokens, 'token')}, once they are retried`
        : toSendWords(null, payable),
    batch: `${manifest.batch}, content ${sha256.slice(0, 16)}`,
    columns: manifest.columns,
    first: [],
  });
  return [
    ...factLines(
      [
        ...facts,
        [
          'Prepared',
          `${view.gate?.preparer == null ? manifest.createdBy : `by ${view.gate.preparer}`}, ${utcMinute(createdAt)}`,
        ],
        letters !== null && [
          'Asked for',
          `by ${shown.asked.who ?? 'no token'}, ${utcMinute(shown.asked.at)}${shown.asked.why === null ? '' : `: ${shown.asked.why}`}`,
        ],
        again !== null && ['Again', again],
        ['Compared', differenceWords(difference)],
        waitsForApproval(view) && ['Approving', after],
      ],
      profile,
      colours,
    ),
    ...(difference === null || difference === 'too-many' ? [] : changeLines(difference)),
    ...warningLines(manifest.warnings, colours),
    ...letterLines(letters ?? []),
    ...(shown.isOutdated
      ? [
          colours.yellow(
            '  These dead letters are others than those that were asked for: the retry has to be asked for again.',
          ),
        ]
      : []),
  ];
}

function warningLines({ count, first }: Manifest['warnings'], colours: Colours): string[] {
  if (count === 0) return [];
  const more = count > first.length ? [`    … and ${grouped(count - first.length)} more`] : [];
  return [
    colours.yellow(`  ${counted(count, 'warning')} that the preparer was shown:`),
    ...first.map((one) => `    ${one}`),
    ...more,
  ];
}

const LETTERS_SHOWN = 20;

function letterLines(letters: readonly RowView[]): string[] {
  const shown = letters.slice(0, LETTERS_SHOWN);
  const more =
    letters.length > shown.length ? [`    … and ${grouped(letters.length - shown.length)} more`] : [];
  return [
    ...shown.map(
      ({ order, op, member, tokens, state, errorCode, attempts }) =>
        `    ${order}: ${op} ${member} ${grouped(tokens ?? 0)}, ${state}${errorCode === null ? '' : ` (${errorCode})`} after ${counted(attempts, 'attempt')}`,
    ),
    ...more,
  ];
}

/** Compares the batch with the last one that has the same columns. */
function differenceWords(difference: Approval['difference']): string {
  if (difference === null) return 'no earlier batch has the same columns';
  if (difference === 'too-many') return 'too many rows to be held beside the last file with the same columns';
  const { batch, source, createdAt, same, added, changed, gone } = difference;
  return `with ${source} of ${utcMinute(createdAt)} (batch ${batch}): ${grouped(same)} alike, ${grouped(added.orders)} new, ${grouped(changed.orders)} with another amount, ${grouped(gone.orders)} not here any more`;
}

const CHANGES_SHOWN = 5;

function changeLines({ added, changed, gone }: Exclude<Approval['difference'], null | 'too-many'>): string[] {
  return [added, changed, gone].flatMap(({ examples, orders }) => [
    ...examples.slice(0, CHANGES_SHOWN).map((one) => `    ${changeWords(one)}`),
    ...(orders > CHANGES_SHOWN ? [`    … and ${grouped(orders - CHANGES_SHOWN)} more`] : []),
  ]);
}

function changeWords({ op, member, recipient, before, now }: OrderChange): string {
  const who = recipient === null ? member : `${member} to ${recipient}`;
  if (before === null) return `new: ${op} ${who} ${grouped(now ?? 0)}`;
  return now === null
    ? `not here any more: ${op} ${who} ${grouped(before)}`
    : `${op} ${who}: ${grouped(before)} before, ${grouped(now)} now`;
}

type Previewed = Pick<
  Manifest,
  'source' | 'rows' | 'invalid' | 'orders' | 'tokens' | 'members' | 'duplicates'
> & {
  readonly profile: RealmProfile;
  readonly ledger: { readonly at: string; readonly past: BooksPast };
  readonly duplicatesOf: readonly string[];
  readonly toSend: string;
  readonly dayLeft: bigint | null;
  readonly requests: number;
  readonly seconds: number;
  readonly start: NonNullable<planning.Prepared['start']> | null;
  readonly endsAt: number;
  readonly batch: string;
  readonly columns: string | null;
  readonly first: readonly string[];
  /** The table that named the members; null for most files. */
  readonly table?: { readonly name: string; readonly sha256: string } | null;
};

/** The end in the realm's time zone where it has one, else in UTC. */
function endWords({ endsAt }: Pick<Previewed, 'endsAt'>, { timezone }: RealmProfile): string {
  return timezone === 'UTC' ? utcMinute(endsAt) : spellMoment(endsAt, timezone);
}

/** The rows of a preview, shared by a plan and an approval. */
function previewFacts({ profile, ledger, ...shown }: Previewed): Facts {
  const { orders, rows, invalid, duplicates, dayLeft, requests, seconds } = shown;
  const ops = OPS.filter((op) => orders[op] > 0).map((op) => `${grouped(orders[op])} ${op}`);
  return [
    ['Realm', `${profile.name}${profile.name === profile.realmId ? '' : ` (id ${profile.realmId})`}`],
    ['Base URL', profile.key.from === 'embedded' ? 'the embedded realm service' : profile.baseUrl],
    ['Currency', profile.currency ?? 'the realm’s default'],
    ['Certainty', certaintyWords(profile)],
    ['File', shown.source],
    shown.table != null && ['Members by', `${shown.table.name} (${shown.table.sha256.slice(0, 16)})`],
    shown.columns !== null && ['Columns', shown.columns],
    ['Rows', `${grouped(rows)}${invalid > 0 ? `, ${grouped(invalid)} of them invalid` : ''}`],
    ['Orders', ops.join(' · ') || 'none'],
    ['Amounts', `${amountsWords(shown.tokens)} tokens`],
    shown.first.length > 0 && ['First', shown.first.join(' · ')],
    ['Members', grouped(shown.members)],
    duplicates > 0 && ['Duplicates', duplicateWords(shown.duplicatesOf, duplicates)],
    ['To send', shown.toSend],
    dayLeft !== null && ['Left today', `${counted(dayLeft, 'token')} of the daily cap`],
    [
      'Pace',
      `${allowedWords(profile.rate)}: ${counted(requests, 'request')}, ${roughly(seconds * 1000)}, until ${endWords(shown, profile)}`,
    ],
    shown.start !== null && ['Begins', spellMoment(shown.start.at, shown.start.zone)],
    profile.quietHours !== null && [
      'Quiet',
      `${profile.quietHours.texts.join(', ')} ${profile.timezone}: nothing is sent for the first time then`,
    ],
    ['Ledger', `${ledger.at}; ${pastWords(ledger.past)}`],
    ['Batch', shown.batch],
  ];
}

/** Rows of a name and a value. False leaves a row out. */
export type Facts = readonly (readonly [name: string, value: string] | false)[];

/** Prints rows of name and value, with a line REHEARSAL where no real points move. */
export function factLines(facts: Facts, { rehearsal }: RealmProfile, colours: Colours): string[] {
  return [
    ...(rehearsal ? [colours.yellow('REHEARSAL: no real points move.')] : []),
    ...facts.flatMap((fact) => (fact === false ? [] : [`  ${fact[0].padEnd(11)}${fact[1]}`])),
  ];
}

/** Members with several rows and the sum of them, which a list of rows hides. */
function netEffectLines(busiest: Planned['plan']['totals']['busiest']): string[] {
  if (busiest.length === 0) return [];
  const shown = busiest
    .slice(0, 5)
    .map(({ member, rows, net }) => `    ${member}: ${counted(rows, 'row')}, net ${signed(net)}`);
  return ['  Members in several rows:', ...shown];
}

type Listed = {
  readonly findings: readonly Finding[];
  /** How many there are in all; `findings` holds the first of them. */
  readonly total: number;
  readonly what: 'fault' | 'warning';
  /** The file that holds all of them. */
  readonly file?: string | null;
};

/** Faults or warnings of a file, with a count of those not shown. */
export function findingLines({ findings, total, what, file = null }: Listed, colours: Colours): string[] {
  if (total === 0) return [];
  const paint = what === 'fault' ? colours.red : colours.yellow;
  const lines = findings.map((finding) => `  ${findingWords(finding, paint)}`);
  const more =
    total > findings.length
      ? [`  … and ${grouped(total - findings.length)} more${file === null ? '' : `, all in ${file}`}`]
      : [];
  return [`${counted(total, what)}:`, ...lines, ...more];
}

/** The step that mends a refused file. */
export function refusedNext(faults: readonly Finding[]): string {
  const whole = faults.find(({ code }) => !isOfRow(code));
  if (whole === undefined) return 'mend the lines above, or pass --skip-invalid to take only the good rows';
  const { next } = CATALOGUE[whole.code];
  return `${next[0]?.toLowerCase()}${next.slice(1)}`;
}

/** The orders that a run would send, and their sum. */
export function toSendWords(
  existing: Planned['plan']['existing'],
  preview: Pick<Planned['preview'], 'payable' | 'payableTokens' | 'amounts'>,
): string {
  if (existing?.view != null && isOver(existing.view))
    return `nothing: batch ${existing.id} is ${existing.view.state}`;
  const { payable, payableTokens, amounts } = preview;
  const sum = amounts === null ? absoluteWords(payableTokens) : `${amountsWords(amounts)} tokens`;
  return `${counted(payable, 'order')}: ${sum}`;
}

function batchWords({ batch, existing }: Planned['plan']): string {
  if (existing?.view == null) return batch ?? 'none';
  const { paid = 0, duplicate = 0, ...others } = existing.view.counts;
  const unpaid = Object.values(others).reduce((sum, count) => sum + count, 0);
  const counts = `${grouped(paid)} paid${duplicate > 0 ? `, ${grouped(duplicate)} duplicate` : ''}, ${counted(unpaid, 'other')}`;
  return isOver(existing.view)
    ? `${existing.id}, which exists already and is over (${counts})`
    : `${existing.id}, which exists already (${counts}): nobody is paid twice`;
}

/** The realm's certainty, and what it means for an unknown outcome. */
function certaintyWords({ certainty }: RealmProfile): string {
  switch (certainty) {
    case 'idempotent':
      return 'idempotent (an unknown outcome is asked again with the same key)';
    case 'readback':
      return 'readback (you assert that nothing else moves these members meanwhile)';
    case 'manual':
      return 'manual (every unknown outcome becomes a doubt for you)';
  }
}

function duplicateWords(batches: readonly string[], count: number): string {
  const of = batches.length === 0 ? '' : ` (orders of ${batches.slice(0, 3).join(', ')})`;
  return `${grouped(count)}, not paid again${of}`;
}

/** Marks a ledger that never paid this realm as NEW: it may be a wrong data folder. */
function pastWords(past: BooksPast): string {
  if (past.paid === 0) return 'NEW: it never paid this realm';
  const last = past.lastAt === null ? '' : `, the last begun on ${utcMinute(past.lastAt)}`;
  return `${counted(past.paid, 'order')} paid to this realm in ${counted(past.batches, 'batch', 'batches')}${last}`;
}
