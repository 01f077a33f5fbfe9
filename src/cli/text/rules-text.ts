import type { RealmProfile } from '../../core/profile.js';
import type { Planned } from '../../operations/pay/plan-file.js';
import { duration, grouped } from '../../report/spelling.js';
import { type Decision, LEFT_OUT, LEFT_OUT_WORDS } from '../../rules/decision.js';
import { histogram } from '../../rules/histogram.js';
import type { RunMeta } from '../../rules/run-record.js';
import { spellMoment } from '../../rules/zone.js';
import type { Colours } from '../frame/colour.js';
import type { DecidedRun } from '../rules-session.js';

/** A plan of a rule, in words and as JSON. */

const SHOWN_MAX = 20;

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

export function ruleLines(
  { meta, decisions }: DecidedRun,
  profile: RealmProfile,
  batch: Planned | null,
  colours: Colours,
): string[] {
  const lines: [string, string][] = [
    ['Rule', `${meta.rule}, period ${meta.period} (${spellMoment(meta.at, meta.zone)})`],
    [
      'Realm',
      profile.key.from === 'embedded'
        ? 'the embedded realm service'
        : `${profile.name} at ${profile.baseUrl}`,
    ],
    ['Condition', meta.condition ?? 'everybody'],
    ['Award', `${meta.op} ${meta.award}${meta.from === null ? '' : ` from ${meta.from}`}`],
    ['Audience', `${grouped(meta.members)} members`],
    ['Facts', meta.requests === 0 ? 'none needed from the realm' : `${grouped(meta.requests)} requests`],
    [
      'Awards',
      `${colours.bold(grouped(meta.awards))} members, ${colours.bold(grouped(BigInt(meta.tokens)))} tokens`,
    ],
    ...(batch === null
      ? []
      : [
          [
            'To pay',
            `${grouped(batch.preview.requests)} requests, about ${duration(batch.preview.seconds * 1000)}`,
          ] satisfies [string, string],
        ]),
    ['Plan', meta.id],
  ];
  return [
    ...(profile.rehearsal ? [colours.yellow('REHEARSAL: no real points move.')] : []),
    ...lines.map(([name, value]) => `  ${name.padEnd(11)}${value}`),
    ...histogramLines(decisions),
    ...awardLines(decisions),
    ...leftOutLines(decisions),
    ...cutLines(decisions),
    ...meta.stops.map(({ message, code }) => `${colours.red('stopped')}: ${message} [${code}]`),
  ];
}

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
  return cut.length === 0 ? [] : [`  Cut by limits or a floor: ${grouped(cut.length)} members`];
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
