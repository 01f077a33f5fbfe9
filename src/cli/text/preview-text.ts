import { CATALOGUE } from '../../core/errors/catalogue.js';
import type { RealmProfile } from '../../core/profile.js';
import type { Finding } from '../../csv/row.js';
import { isOver } from '../../operations/batches/batch-status.js';
import type { Planned } from '../../operations/pay/plan-file.js';
import type { BooksPast } from '../../planning/preview.js';
import { absoluteWords, amountsWords, signed } from '../../words/amounts.js';
import { isOfRow } from '../../words/faults.js';
import { allowedWords, counted, grouped, roughly, utcMinute } from '../../words/spelling.js';
import type { Colours } from '../frame/output.js';

/** A plan in words; the JSON document of the contract stands beside the planning itself. */
export function planLines(
  { plan, preview }: Planned,
  profile: RealmProfile,
  books: { readonly at: string; readonly past: BooksPast },
  colours: Colours,
): string[] {
  const { totals } = plan;
  const ops = (['credit', 'debit', 'transfer'] as const)
    .filter((op) => totals.orders[op] > 0)
    .map((op) => `${grouped(totals.orders[op])} ${op}`);
  const facts: Facts = [
    ['Realm', `${profile.name}${profile.name === profile.realmId ? '' : ` (id ${profile.realmId})`}`],
    ['Base URL', profile.key.from === 'embedded' ? 'the embedded realm service' : profile.baseUrl],
    ['Currency', profile.currency ?? 'the realm’s default'],
    ['Certainty', certaintyWords(profile)],
    ['File', plan.source],
    [
      'Rows',
      `${grouped(totals.rows)}${totals.invalid > 0 ? `, ${grouped(totals.invalid)} of them invalid` : ''}`,
    ],
    ['Orders', ops.join(' · ') || 'none'],
    ['Amounts', `${amountsWords(totals.tokens)} tokens`],
    ['Members', grouped(totals.members)],
    preview.duplicates > 0 && ['Duplicates', duplicateWords(plan.spent, preview.duplicates)],
    ['To send', toSendWords(plan.existing, preview)],
    preview.dayLeft !== null && ['Left today', `${counted(preview.dayLeft, 'token')} of the daily cap`],
    [
      'Pace',
      `${allowedWords(profile.rate)}: ${counted(preview.requests, 'request')}, ${roughly(preview.seconds * 1000)}, until ${utcMinute(Date.now() + preview.seconds * 1000)}`,
    ],
    ['Books', `${books.at}; ${pastWords(books.past)}`],
    ['Batch', batchWords(plan)],
  ];
  return [...factLines(facts, profile, colours), ...netEffectLines(totals.busiest)];
}

/** Names with their values; false where there is nothing to say. */
export type Facts = readonly (readonly [name: string, value: string] | false)[];

export function factLines(facts: Facts, { rehearsal }: RealmProfile, colours: Colours): string[] {
  return [
    ...(rehearsal ? [colours.yellow('REHEARSAL: no real points move.')] : []),
    ...facts.flatMap((fact) => (fact === false ? [] : [`  ${fact[0].padEnd(11)}${fact[1]}`])),
  ];
}

function netEffectLines(busiest: Planned['plan']['totals']['busiest']): string[] {
  if (busiest.length === 0) return [];
  const shown = busiest
    .slice(0, 5)
    .map(({ member, rows, net }) => `    ${member}: ${counted(rows, 'row')}, net ${signed(net)}`);
  return ['  Members in several rows:', ...shown];
}

export function findingLines(
  findings: readonly Finding[],
  total: number,
  what: string,
  file: string | null,
  colours: Colours,
): string[] {
  if (total === 0) return [];
  const paint = what === 'fault' ? colours.red : colours.yellow;
  const lines = findings.map(({ line, column, code, message }) => {
    const place = line === 0 ? 'file' : `line ${line}${column === null ? '' : `, ${column}`}`;
    return `  ${paint(place)}: ${message} [${code}]`;
  });
  const more =
    total > findings.length
      ? [`  … and ${grouped(total - findings.length)} more${file === null ? '' : `, all in ${file}`}`]
      : [];
  return [`${counted(total, what)}:`, ...lines, ...more];
}

/** What mends a refused file. */
export function refusedNext(faults: readonly Finding[]): string {
  const whole = faults.find(({ code }) => !isOfRow(code));
  if (whole === undefined) return 'mend the lines above, or pass --skip-invalid to take only the good rows';
  const { next } = CATALOGUE[whole.code];
  return `${next[0]?.toLowerCase()}${next.slice(1)}`;
}

export function toSendWords(existing: Planned['plan']['existing'], preview: Planned['preview']): string {
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
  const stands = `${grouped(paid)} paid${duplicate > 0 ? `, ${grouped(duplicate)} duplicate` : ''}, ${counted(unpaid, 'other')}`;
  return isOver(existing.view)
    ? `${existing.id}, which exists already and is over (${stands})`
    : `${existing.id}, which exists already (${stands}): it is resumed, and nobody is paid twice`;
}

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

function duplicateWords(spent: Planned['plan']['spent'], count: number): string {
  const of = spent.batches.length === 0 ? '' : ` (orders of ${spent.batches.slice(0, 3).join(', ')})`;
  return `${grouped(count)}, not paid again${of}`;
}

function pastWords(past: BooksPast): string {
  if (past.paid === 0) return 'NEW: they never paid this realm';
  const last = past.lastAt === null ? '' : `, the last begun on ${utcMinute(past.lastAt)}`;
  return `${counted(past.paid, 'order')} paid to this realm in ${counted(past.batches, 'batch', 'batches')}${last}`;
}
