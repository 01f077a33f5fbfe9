import { LosslessNumber } from 'lossless-json';
import { Fraction } from '../../core/fraction.js';
import type { EmbeddedRealm } from '../../realm/embedded.js';
import type { MemberSeed } from '../../realm/server/members.js';
import { celCell, celMap } from '../../rules/cel-values.js';
import { type AudienceRow, type PackedAudience, rowsOf, walletColumn } from '../../rules/packed-audience.js';
import type { Rule } from '../../rules/rule.js';

/**
 * The embedded realm has nobody in it, so a rehearsal of a rule makes its members from the audience: `balance`
 * is what they start with, `wallet` theirs, `web3.x` and `member.x` columns are the facts that the realm then
 * tells. Who exists keeps the balance; columns of facts are put again, so that an edited file counts.
 */
const START_BALANCE = 100;

export async function makeAudienceMembers(
  embedded: EmbeddedRealm,
  realmId: string,
  rule: Rule,
  audience: PackedAudience,
): Promise<void> {
  const { admin } = embedded;
  const hasFacts =
    audience.columns.some((name) => /^(web3|member)\./.test(name)) || walletColumn(audience.columns) !== -1;
  await admin.putMembers(realmId, seedsOf(audience), hasFacts ? 'keep' : 'leave');
  if (rule.from !== null)
    await admin.putMembers(realmId, [{ member: rule.from, tokens: POT_BALANCE }], 'leave');
}

const POT_BALANCE = 1_000_000_000;

/** One by one: those of a large audience at once would hold up the process. */
async function* seedsOf(audience: PackedAudience): AsyncGenerator<MemberSeed, void, undefined> {
  for await (const rows of rowsOf(audience)) for (const row of rows) yield seedOf(audience, row);
}

function seedOf({ columns }: PackedAudience, { member, cells }: AudienceRow): MemberSeed {
  const balanceAt = columns.findIndex((name) => name.toLowerCase() === 'balance');
  const walletAt = walletColumn(columns);
  const balance = celCell(cells[balanceAt] ?? '');
  const wallet = (cells[walletAt] ?? '').trim();
  return {
    member,
    tokens: typeof balance === 'bigint' ? Number(balance) : START_BALANCE,
    ...(wallet === '' ? {} : { wallets: [wallet] }),
    web3: factsUnder('web3.', columns, cells),
    attributes: factsUnder('member.', columns, cells),
  };
}

/** `web3.nfts.count` becomes `{nfts: {count: …}}`; empty cells are facts that the member lacks. */
function factsUnder(
  prefix: string,
  columns: readonly string[],
  cells: readonly string[],
): Record<string, unknown> {
  const facts = celMap([]);
  for (const [at, name] of columns.entries()) {
    if (!name.startsWith(prefix)) continue;
    const value = celCell(cells[at] ?? '');
    if (value !== undefined) put(facts, name.slice(prefix.length).split('.'), value);
  }
  return facts;
}

function put(facts: Record<string, unknown>, [name = '', ...inner]: readonly string[], value: unknown): void {
  if (inner.length === 0) {
    const isNumber = typeof value === 'bigint' || value instanceof Fraction;
    facts[name] = isNumber ? new LosslessNumber(String(value)) : value;
    return;
  }
  const known = facts[name];
  const below = celMap(typeof known === 'object' && known !== null ? Object.entries(known) : []);
  put(below, inner, value);
  facts[name] = below;
}
