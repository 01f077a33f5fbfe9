import type { MemberId } from '../../core/ids.js';
import type { RealmProfile } from '../../core/profile.js';
import type { WalletVerdict } from '../../realm/client/wallet-reply.js';
import { type Audience, type AudienceRow, walletOf } from './audience-row.js';
import type { Candidate, FactRead } from './decision.js';
import { type FactsUsed, NO_FACTS, together } from './facts-used.js';
import { type Call, callsFor, type FactReader, factField, gatherFacts, NOT_FOUND } from './gather-facts.js';
import { gatherWallets } from './gather-wallets.js';
import { inTurns } from './in-turns.js';
import { awardExpression, type Rule } from './rule.js';
import type { FactsKept } from './run-store.js';

export type ReadRequest = {
  readonly rule: Rule;
  readonly audience: Audience;
  readonly profile: Pick<RealmProfile, 'wallets' | 'rate'>;
  readonly reads: FactReader;
  readonly facts: FactsKept;
  /** Members who were awarded in this period already, with the order; nothing is read of them. */
  readonly already: ReadonlyMap<string, string>;
  /** Who of these meets the condition, in their order. */
  readonly meeting: (candidates: readonly Candidate[]) => Promise<readonly boolean[]>;
  readonly stop: AbortSignal;
  /** Requests made for this plan, and how many it will be at most. */
  readonly onProgress: (made: number, most: number) => void;
};

/**
 * Reads no more than the decisions need: wallets first, then what the condition names, and what only the
 * award names of those members alone who meet the condition.
 */
export async function readCandidates(
  request: ReadRequest,
): Promise<{ readonly candidateOf: (row: AudienceRow) => Candidate; readonly requests: number }> {
  const { rule, audience, facts, already } = request;
  const { inCondition, inAward } = callsOf(rule);
  const open = await kept(audience.rows, ({ member }) => !already.has(member) && member !== rule.from);
  const counting = new Counting(request, open.length * (inCondition.length + inAward.length));
  const options = {
    reads: request.reads,
    facts,
    used: usedBy(rule),
    rate: request.profile.rate,
    stop: request.stop,
    onRead: () => counting.made(),
    unreadMax: Math.floor(open.length * rule.maxMissing),
  };
  const verdicts = await gatherWallets(
    audience.checkWallets ? open.flatMap((row) => walletOf(audience, row) ?? []) : [],
    request.profile.wallets.chunk,
    options,
  );
  const verdictOf = (row: AudienceRow): WalletVerdict | null => {
    const wallet = walletOf(audience, row);
    return wallet === null || already.has(row.member) ? null : (verdicts.get(wallet) ?? 'undetermined');
  };
  const unread = new Map<string, string>();
  const candidateOf = (row: AudienceRow): Candidate => ({
    row,
    wallet: verdictOf(row),
    already: already.get(row.member) ?? null,
    member: factOf('member', row.member, facts, unread),
    web3: factOf('web3', row.member, facts, unread),
  });
  // With a wallet undetermined the run stops, whatever the facts are; none is asked for then.
  const doomed = (await kept(open, (row) => verdictOf(row) === 'undetermined')).length > 0;
  const eligible = doomed ? [] : await kept(open, (row) => verdictOf(row) !== 'not-member');
  const gather = async (rows: readonly AudienceRow[], calls: readonly Call[]) => {
    if (calls.length === 0) return;
    const members = rows.map(({ member }) => member);
    for (const [field, why] of await gatherFacts(members, calls, options)) unread.set(field, why);
  };
  counting.most = eligible.length * (inCondition.length + inAward.length);
  await gather(eligible, inCondition);
  if (inAward.length > 0) {
    const passing: AudienceRow[] = [];
    for await (const rows of inTurns(eligible)) {
      const meets = rule.condition === null ? null : await request.meeting(rows.map(candidateOf));
      passing.push(...rows.filter((_, at) => meets === null || meets[at] === true));
    }
    counting.most = eligible.length * inCondition.length + passing.length * inAward.length;
    await gather(passing, inAward);
  }
  return { candidateOf, requests: counting.sofar };
}

async function kept(
  rows: readonly AudienceRow[],
  holds: (row: AudienceRow) => boolean,
): Promise<readonly AudienceRow[]> {
  const found: AudienceRow[] = [];
  for await (const some of inTurns(rows)) found.push(...some.filter(holds));
  return found;
}

/** The most requests that a plan can need, known before any is made. */
export function requestsAtMost(rule: Rule, audience: Audience, chunk: number): number {
  const { inCondition, inAward } = callsOf(rule);
  const wallets = audience.checkWallets ? Math.ceil(audience.rows.length / chunk) : 0;
  return audience.rows.length * (inCondition.length + inAward.length) + wallets;
}

function callsOf(rule: Rule): { inCondition: readonly Call[]; inAward: readonly Call[] } {
  const inCondition = callsFor(rule.condition?.used ?? NO_FACTS);
  return { inCondition, inAward: callsFor(usedInAward(rule)).filter((call) => !inCondition.includes(call)) };
}

function usedInAward(rule: Rule): FactsUsed {
  const used = awardExpression(rule)?.used ?? NO_FACTS;
  return rule.floor === null ? used : { ...used, balance: true };
}

function usedBy(rule: Rule): FactsUsed {
  return together(rule.condition?.used ?? NO_FACTS, usedInAward(rule));
}

function factOf(
  call: Call,
  member: MemberId,
  facts: FactsKept,
  unread: ReadonlyMap<string, string>,
): FactRead {
  const field = factField(call, member);
  const text = facts.known.get(field);
  if (text === NOT_FOUND) return { kind: 'absent', why: 'the realm does not know this member' };
  const why = unread.get(field);
  if (text === undefined) return why === undefined ? { kind: 'unasked' } : { kind: 'absent', why };
  const blank = text.indexOf(' ');
  const balance = text.slice(0, blank);
  return { kind: 'found', text: text.slice(blank + 1), balance: balance === '' ? null : balance };
}

/** Counts requests; those of an earlier, interrupted reading are the facts that are kept already. */
class Counting {
  private count = 0;
  private readonly before: number;

  constructor(
    private readonly request: ReadRequest,
    public most: number,
  ) {
    this.before = [...request.facts.known.keys()].filter((field) => !field.startsWith('v:')).length;
  }

  made(): void {
    this.count += 1;
    this.request.onProgress(this.sofar, Math.max(this.most, this.sofar));
  }

  get sofar(): number {
    return this.before + this.count;
  }
}
