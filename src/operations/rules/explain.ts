import { AlmonerError } from '../../core/errors/error.js';
import type { MemberId } from '../../core/ids.js';
import { awardsOf } from '../../rules/awards.js';
import { periodName } from '../../rules/calendar.js';
import type { Stop } from '../../rules/decision.js';
import { type AudienceRow, packAudience, rowsOf } from '../../rules/packed-audience.js';
import { decideAudience } from '../../rules/plan-run.js';
import { awardExpression, type PackedRule } from '../../rules/rule.js';
import { decodeEntries, type RunEntry, type RunMeta } from '../../rules/run-record.js';
import { readEntries } from '../../rules/run-store.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { pacedReads } from '../../runtime/paced-reads.js';
import { payingChosen } from '../pay/paying-in.js';
import { makeAudienceMembers } from './members.js';
import { findRunOf } from './plan.js';

/** A decision with everything it rests on. */
export type Explained = RunEntry &
  Pick<RunMeta, 'condition' | 'award'> & { readonly columns: readonly string[] };

/** The facts as JSON again, digit by digit where JSON.parse keeps them. */
export function factsOf({ columns, cells, member, web3, balance, wallet }: Explained) {
  const json = (text: string | null): Record<string, unknown> | null =>
    text === null ? null : JSON.parse(text);
  const row = Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? '']));
  return { row, member: json(member), web3: json(web3), balance, wallet };
}

/** A past decision, from the frozen facts. */
export async function explainMember(
  app: App,
  named: string,
  member: string,
  realm: string | undefined,
): Promise<{ readonly meta: RunMeta; readonly explained: Explained }> {
  const found = await findRunOf(app, named, realm);
  if (found === undefined)
    throw new AlmonerError(
      'ALM_RULE_RUN_NOT_FOUND',
      `No plan or run of a rule is called ${JSON.stringify(named)}.`,
    );
  const { profile, run: meta } = found;
  // Blocks that do not name the member are not taken apart: a run may have thousands.
  for await (const entries of readEntries(app.ledger(profile), meta, 0, `"member":"${member}"`)) {
    const entry = entries.find(({ decision }) => decision.member === member);
    if (entry === undefined) continue;
    const { condition, award, columns } = meta;
    return { meta, explained: { ...entry, condition, award, columns } };
  }
  throw new AlmonerError(
    'ALM_RULE_NOT_IN_RUN',
    `Member ${member} was not in the audience of run ${meta.id} (${meta.rule}, ${meta.period}).`,
  );
}

/** One rule on one member, now; nothing is kept. */
export async function tryMember(
  realm: OpenRealm,
  { rule, audience }: PackedRule,
  member: MemberId,
  at: number,
): Promise<{ explained: Explained; inAudience: boolean; period: string; stops: readonly Stop[] }> {
  const { ledger } = realm;
  const profile = payingChosen(realm.profile, rule.currency);
  let listed: AudienceRow | undefined;
  for await (const rows of rowsOf(audience)) listed ??= rows.find((row) => row.member === member);
  const row: AudienceRow = listed ?? {
    member,
    line: 0,
    cells: audience.columns.map((name) => (name === 'member' ? member : '')),
  };
  const alone = packAudience({ ...audience, rows: [row] });
  if (realm.embedded !== null && listed !== undefined)
    await makeAudienceMembers(realm.embedded, profile.realmId, rule, alone);
  const period = periodName(rule.period, at, rule.zone);
  const known = new Map<string, string>();
  const facts = {
    known,
    keep: async (field: string, value: string) => void known.set(field, value),
    drop: async () => {},
  };
  const entries: RunEntry[] = [];
  const { decided } = await decideAudience({
    rule,
    audience: alone,
    profile,
    reads: pacedReads(realm, profile.currency),
    facts,
    ...(await awardsOf(ledger, profile, { rule: rule.name, period }, [[row]])),
    at,
    maxMissing: 1,
    stop: new AbortController().signal,
    onProgress: () => {},
    keep: async (_, bytes) => void entries.push(...decodeEntries(bytes)),
  });
  const [entry] = entries;
  if (entry === undefined) throw new Error('a member without a decision');
  const explained = {
    ...entry,
    condition: rule.condition?.text ?? null,
    award: awardExpression(rule)?.text ?? (rule.award.kind === 'fixed' ? String(rule.award.tokens) : ''),
    columns: audience.columns,
  };
  return { explained, inAudience: listed !== undefined, period, stops: decided.stops };
}
