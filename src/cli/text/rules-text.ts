import { inCurrency } from '../../core/currencies.js';
import { sumOf } from '../../core/op-sums.js';
import type { RealmProfile } from '../../core/profile.js';
import { spellMoment } from '../../core/zones.js';
import type { Planned } from '../../operations/pay/plan-file.js';
import { type Explained, factsOf } from '../../operations/rules/explain.js';
import type { ListedRule } from '../../operations/rules/list.js';
import type { SyncedRule } from '../../operations/rules/sync.js';
import { type Decision, LEFT_OUT, LEFT_OUT_WORDS } from '../../rules/decision.js';
import type { PlannedRun } from '../../rules/plan-run.js';
import type { RunMeta } from '../../rules/run-record.js';
import { amountsWords } from '../../words/amounts.js';
import { counted, grouped, roughly } from '../../words/spelling.js';
import type { Colours } from './colours.js';
import { type Facts, factLines } from './preview-text.js';

/** A rule's plan with all its decisions. */
export type DecidedRun = PlannedRun & { readonly decisions: readonly Decision[] };

const SHOWN_MAX = 20;

/** The JSON document of a rule's plan. */
export function ruleDocument(
  { meta, decisions, resumed }: DecidedRun,
  profile: RealmProfile,
  batch: Planned | null,
  unfinished: RunMeta | undefined,
) {
  return {
    plan: meta.id,
    rule: meta.rule,
    realm: profile.name,
    rehearsal: profile.rehearsal,
    period: meta.period,
    at: new Date(meta.at).toISOString(),
    state: meta.state,
    resumed,
    op: meta.op,
    currency: meta.currency ?? null,
    members: meta.members,
    awards: meta.awards,
    tokens: meta.tokens,
    leftOut: meta.leftOut,
    stops: meta.stops,
    histogram: histogram(awardsOf(decisions).map(({ tokens }) => tokens)),
    cut: cutsOf(decisions).map(({ member, tokens, steps }) => ({ member, tokens, steps })),
    decisions,
    factRequests: meta.requests,
    batch: batch?.plan.existing?.id ?? batch?.plan.batch ?? null,
    faults: batch?.plan.findings.faults(1000) ?? [],
    requests: batch?.preview.requests ?? 0,
    seconds: batch?.preview.seconds ?? 0,
    unfinished: unfinished?.id ?? null,
  };
}

/** A rule's plan in words: facts, amounts, awards and members left out. */
export function ruleLines(
  { meta, decisions }: DecidedRun,
  profile: RealmProfile,
  batch: Planned | null,
  colours: Colours,
): string[] {
  const facts: Facts = [
    ['Rule', `${meta.rule}, period ${meta.period} (${spellMoment(meta.at, meta.zone)})`],
    [
      'Realm',
      profile.key.from === 'embedded'
        ? 'the embedded realm service'
        : `${profile.name} at ${profile.baseUrl}`,
    ],
    ['Condition', meta.condition ?? 'everybody'],
    [
      'Award',
      `${meta.op} ${meta.award}${meta.from === null ? '' : ` from ${meta.from}`}${inCurrency(meta.currency ?? null)}`,
    ],
    ['Audience', counted(meta.members, 'member')],
    ['Facts', meta.requests === 0 ? 'none needed from the realm' : counted(meta.requests, 'request')],
    [
      'Awards',
      `${colours.bold(counted(meta.awards, 'member'))}: ${colours.bold(amountsWords(sumOf(meta.op, BigInt(meta.tokens))))} tokens`,
    ],
    batch !== null && [
      'Needs',
      `${counted(batch.preview.requests, 'request')}, ${roughly(batch.preview.seconds * 1000)}`,
    ],
    ['Plan', meta.id],
  ];
  return [
    ...factLines(facts, profile, colours),
    ...histogramLines(decisions),
    ...awardLines(decisions),
    ...leftOutLines(decisions),
    ...cutLines(decisions),
    ...meta.stops.map(({ message, code }) => `${colours.red('stopped')}: ${message} [${code}]`),
  ];
}

/** The awards by size as a bar chart. */
function histogramLines(decisions: readonly Decision[]): string[] {
  const bars = histogram(awardsOf(decisions).map(({ tokens }) => tokens));
  const most = Math.max(1, ...bars.map(({ members }) => members));
  const name = ({ from, to }: (typeof bars)[number]) =>
    from === to ? grouped(from) : `${grouped(from)}–${grouped(to)}`;
  const width = Math.max(0, ...bars.map((bar) => name(bar).length));
  return bars.map((bar) => {
    const cells = Math.max(1, Math.round((bar.members / most) * 24));
    return `    ${name(bar).padStart(width)}  ${'█'.repeat(cells)} ${grouped(bar.members)}`;
  });
}

function awardLines(decisions: readonly Decision[]): string[] {
  const awards = awardsOf(decisions);
  if (awards.length === 0) return ['  Nobody gets anything.'];
  const shown = awards
    .slice(0, SHOWN_MAX)
    .map(
      ({ member, tokens, steps }) =>
        `    ${member.padEnd(20)} ${grouped(tokens).padStart(12)}${steps.length === 0 ? '' : `  (${steps.join('; ')})`}`,
    );
  return [...shown, ...more(awards.length)];
}

/** Members without an award, by reason. */
function leftOutLines(decisions: readonly Decision[]): string[] {
  return LEFT_OUT.flatMap((reason) => {
    const members = decisions.filter(({ leftOut }) => leftOut === reason);
    if (members.length === 0) return [];
    const few = reason === 'missing' || reason === 'wallet' || reason === 'limit';
    const named = members
      .slice(0, few ? SHOWN_MAX : 3)
      .map(({ member, detail }) => (few && detail !== null ? `${member} (${detail})` : member));
    const rest = members.length > named.length ? ', …' : '';
    return [`  Left out: ${grouped(members.length)}, ${LEFT_OUT_WORDS[reason]}: ${named.join(', ')}${rest}`];
  });
}

function cutLines(decisions: readonly Decision[]): string[] {
  const cut = cutsOf(decisions);
  return cut.length === 0 ? [] : [`  Cut by limits or a floor: ${counted(cut.length, 'member')}`];
}

function awardsOf(decisions: readonly Decision[]): readonly Decision[] {
  return decisions.filter(({ leftOut }) => leftOut === null);
}

function cutsOf(decisions: readonly Decision[]): readonly Decision[] {
  return decisions.filter(
    ({ steps, leftOut }) => leftOut === 'limit' || steps.some((step) => step.includes(' cuts ')),
  );
}

function more(total: number): string[] {
  return total > SHOWN_MAX ? [`    … and ${grouped(total - SHOWN_MAX)} more; --json lists all`] : [];
}

/** Awards grouped by size, so that a person sees at a glance whether the amounts are the intended ones. */
type Bar = {
  readonly from: number;
  readonly to: number;
  readonly members: number;
  readonly tokens: bigint;
};

const BARS_MAX = 8;

/**
 * Groups amounts into bars. Up to eight distinct amounts get a bar each; more are put into equal ranges with round
 * bounds.
 */
function histogram(amounts: readonly number[]): Bar[] {
  const distinct = [...new Set(amounts)].sort((a, b) => a - b);
  const bounds =
    distinct.length <= BARS_MAX ? distinct.map((amount) => ({ from: amount, to: amount })) : ranges(distinct);
  return bounds
    .map(({ from, to }) => {
      const within = amounts.filter((amount) => amount >= from && amount <= to);
      return {
        from,
        to,
        members: within.length,
        tokens: within.reduce((sum, amount) => sum + BigInt(amount), 0n),
      };
    })
    .filter(({ members }) => members > 0);
}

function ranges(distinct: readonly number[]): { from: number; to: number }[] {
  const largest = distinct.at(-1) ?? 0;
  const width = roundUp(largest / BARS_MAX);
  return Array.from({ length: Math.ceil(largest / width) }, (_, index) => ({
    from: index * width + 1,
    to: (index + 1) * width,
  }));
}

/** Rounds up to the next of 1, 2, 5, 10, 20, 50… */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
}

/** One member's decision step by step, for `rules try` and `rules explain`. */

export function explanationLines(explained: Explained): string[] {
  const { decision } = explained;
  const row = explained.columns.map((name, at) => `${name}=${explained.cells[at] ?? ''}`).join(', ');
  const held = decision.condition === null ? 'not judged' : decision.condition ? 'held' : 'did not hold';
  return [
    `  row        ${row}`,
    ...(explained.member === null ? [] : [`  member     ${explained.member}`]),
    ...(explained.balance === null ? [] : [`  balance    ${explained.balance}`]),
    ...(explained.web3 === null ? [] : [`  web3       ${explained.web3}`]),
    ...(explained.wallet === null ? [] : [`  wallet     ${explained.wallet}`]),
    `  condition  ${explained.condition === null ? 'none: everybody' : `${explained.condition}  → ${held}`}`,
    ...(decision.computed === null ? [] : [`  award      ${explained.award}  → ${decision.computed}`]),
    ...decision.steps.map((step) => `             ${step}`),
    decision.leftOut === null
      ? `  result     ${counted(decision.tokens, 'token')}`
      : `  result     left out: ${LEFT_OUT_WORDS[decision.leftOut]}${decision.detail === null ? '' : ` (${decision.detail})`}`,
  ];
}

export function explanationDocument(explained: Explained) {
  const { decision, condition, award } = explained;
  return { ...decision, facts: factsOf(explained), expressions: { condition, award } };
}

/** The number of members, and who is new or gone since the last approval. */
function memberLines({ changed, ...all }: NonNullable<ListedRule['text']>['members']): string[] {
  const named = ({ count, first }: { readonly count: number; readonly first: readonly string[] }) =>
    `${counted(count, 'member')}${count === 0 ? '' : ` (${first.join(', ')}${count > first.length ? ', …' : ''})`}`;
  return [
    `  Members: ${named(all)}`,
    ...(changed === null
      ? []
      : [
          `  Since the list that was approved last: ${named(changed.added)} new, ${named(changed.gone)} gone`,
        ]),
  ];
}

/** What a rule does, for the person who is about to approve it. */
export function approvableLines({ words, reason, nextRuns, text }: ListedRule, colours: Colours): string[] {
  const paint = { ' ': (line: string) => line, '-': colours.red, '+': colours.green };
  return [
    ...words.map((line) => `  ${line}`),
    ...(reason === null ? [] : [`  Reason beside every order: ${reason}`]),
    ...(text === null ? [] : memberLines(text.members)),
    ...(nextRuns.length === 0 ? [] : ['  The next ten times of its schedule, and the period of each:']),
    ...nextRuns.map((run) => `    ${run.words}  ${run.period}`),
    ...(text === null
      ? []
      : text.difference === null
        ? ['  No text of this rule was approved before.']
        : text.difference.every(({ mark }) => mark === ' ')
          ? ['  The text is the one that was approved before.']
          : [
              '  Difference from the text that was approved before:',
              ...text.difference.map((line) => paint[line.mark](`    ${line.mark} ${line.text}`)),
            ]),
  ];
}

/** One rule after a sync: what changed and whether it may run. */
export function syncedLine({ rule, realm, change, approved, approvedNow, asked, file }: SyncedRule): string {
  const mark = { new: '+', changed: '~', same: '=', gone: '-', removed: '-', 'other-realm': ' ' }[change];
  const words = {
    new: 'new',
    changed: 'changed',
    same: 'unchanged',
    gone: 'its file or schedule is gone; it does not run',
    removed: 'removed',
    'other-realm': 'for a realm that is not configured here; left alone',
  }[change];
  const approval =
    change === 'gone' || change === 'removed' || change === 'other-realm'
      ? ''
      : approvedNow
        ? ', approved now'
        : asked !== null
          ? `, ${asked} asks for its approval: ANOTHER PERSON has to approve it`
          : approved
            ? ', approved'
            : ', WAITS for approval';
  return `${mark} ${rule} (${file}, realm ${realm}): ${words}${approval}`;
}
