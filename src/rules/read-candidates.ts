import type { MemberId } from '../core/ids.js';
import type { RealmProfile } from '../core/profile.js';
import type { notes } from '../ledger/index.js';
import type { WalletMembership } from '../realm/client/wallet-reply.js';
import type { Candidate, FactRead } from './decision.js';
import { CALLS, type Call, needs, together } from './facts-used.js';
import { type FactReader, factField, type GatherOptions, gatherFacts, NOT_FOUND } from './gather-facts.js';
import { type AudienceRow, type PackedAudience, rowsOf, walletOf } from './packed-audience.js';
import { awardExpression, type Rule } from './rule.js';

/** Everything that reading the candidates needs. */
export type ReadRequest = {
  readonly rule: Rule;
  readonly audience: PackedAudience;
  readonly profile: Pick<RealmProfile, 'wallets' | 'rate'>;
  readonly reads: FactReader;
  readonly facts: notes.FactsKept;
  /** Members with an award in this period, with their order. Their facts are not read. */
  readonly already: ReadonlyMap<string, string>;
  /** Opens a thread while the condition is evaluated. */
  readonly judging: (work: (meeting: Meeting) => Promise<void>) => Promise<void>;
  readonly stop: AbortSignal;
  /** Requests made so far, and the maximum for this plan. */
  readonly onProgress: (made: number, most: number) => void;
};

/** Returns the candidates that meet the condition, in their order. */
type Meeting = (candidates: readonly Candidate[]) => Promise<readonly boolean[]>;

/**
 * Reads only the facts that the decisions need: first wallets, then the facts of the condition. Facts that only the
 * award uses are read just for members who meet the condition.
 */
export async function readCandidates(
  request: ReadRequest,
): Promise<{ readonly readOf: (row: AudienceRow) => Read; readonly requests: number }> {
  const { rule, audience, facts, already } = request;
  const { inCondition, inAward } = callsOf(rule);
  const isOpen = ({ member }: AudienceRow) => !already.has(member) && member !== rule.from;
  const { open, wallets } = await openRows(audience, isOpen);
  // Facts from an earlier, interrupted reading were requests too.
  let made = [...facts.known.keys()].filter((field) => !field.startsWith(WALLET)).length;
  let most = open * (inCondition.length + inAward.length);
  const used = [rule.condition, awardExpression(rule)].flatMap((one) => (one === null ? [] : [one.used]));
  const options = {
    reads: request.reads,
    facts,
    used: { member: together(used, 'member'), web3: together(used, 'web3') },
    rate: request.profile.rate,
    stop: request.stop,
    onRead: () => {
      made += 1;
      request.onProgress(made, Math.max(most, made));
    },
    unreadMax: Math.floor(open * rule.maxMissing),
  };
  const verdictOn = await gatherWallets(wallets, request.profile.wallets.chunk, options);
  const verdictOf = (row: AudienceRow): WalletMembership | null => {
    const wallet = walletOf(audience, row);
    return wallet === null || already.has(row.member) ? null : verdictOn(wallet);
  };
  const unread = new Map<string, string>();
  const readOf = (row: AudienceRow): Read => ({
    wallet: verdictOf(row),
    already: already.get(row.member) ?? null,
    member: factOf('member', row.member, facts, unread),
    web3: factOf('web3', row.member, facts, unread),
  });
  if (inCondition.length + inAward.length === 0) return { readOf, requests: made };
  // An undetermined wallet stops the run whatever the facts are, so no facts are read then.
  const doomed = [...wallets].some((wallet) => verdictOn(wallet) === 'undetermined');
  const isEligible = (row: AudienceRow) => !doomed && isOpen(row) && verdictOf(row) !== 'not-member';
  const gather = async (who: (row: AudienceRow) => boolean, calls: readonly Call[]) => {
    if (calls.length === 0) return;
    const unreadNow = await gatherFacts(those(audience, who), calls, options);
    for (const [field, why] of unreadNow) unread.set(field, why);
  };
  let eligible = 0;
  for await (const rows of those(audience, isEligible)) eligible += rows.length;
  most = eligible * (inCondition.length + inAward.length);
  await gather(isEligible, inCondition);
  if (inAward.length > 0) {
    const passing = await whoPass(request, isEligible, readOf);
    most = eligible * inCondition.length + passing.size * inAward.length;
    await gather(({ member }) => passing.has(member), inAward);
  }
  return { readOf, requests: made };
}

async function openRows(audience: PackedAudience, isOpen: (row: AudienceRow) => boolean) {
  const wallets = new Set<string>();
  let open = 0;
  for await (const rows of those(audience, isOpen)) {
    open += rows.length;
    for (const wallet of rows.map((row) => walletOf(audience, row))) if (wallet !== null) wallets.add(wallet);
  }
  return { open, wallets };
}

/** The members who meet the condition. */
async function whoPass(
  { rule, audience, judging }: ReadRequest,
  isEligible: (row: AudienceRow) => boolean,
  readOf: (row: AudienceRow) => Read,
): Promise<ReadonlySet<string>> {
  const passing = new Set<string>();
  const pass = async (meeting: Meeting) => {
    for await (const rows of those(audience, isEligible)) {
      const meets = await meeting(rows.map((row) => ({ row, ...readOf(row) })));
      for (const [at, { member }] of rows.entries()) if (meets[at] === true) passing.add(member);
    }
  };
  if (rule.condition === null) await pass(async (all) => all.map(() => true));
  else await judging(pass);
  return passing;
}

/** What is known of a member besides the row. */
type Read = Omit<Candidate, 'row'>;

async function* those(audience: PackedAudience, holds: (row: AudienceRow) => boolean) {
  for await (const rows of rowsOf(audience)) yield rows.filter(holds);
}

/** The maximum number of requests of a plan, known before any is made. */
export function requestsAtMost(rule: Rule, audience: PackedAudience, chunk: number): number {
  const { inCondition, inAward } = callsOf(rule);
  const wallets = audience.checkWallets ? Math.ceil(audience.members / chunk) : 0;
  return audience.members * (inCondition.length + inAward.length) + wallets;
}

/** The calls that the condition needs, and those that only the award needs. A floor needs the balance. */
function callsOf(rule: Rule): { inCondition: readonly Call[]; inAward: readonly Call[] } {
  const { condition, floor } = rule;
  const award = awardExpression(rule);
  const inCondition = CALLS.filter((call) => condition !== null && needs(call, condition.used));
  const isOfAward = (call: Call) =>
    (award !== null && needs(call, award.used)) || (call === 'member' && floor !== null);
  return { inCondition, inAward: CALLS.filter((call) => !inCondition.includes(call) && isOfAward(call)) };
}

function factOf(
  call: Call,
  member: MemberId,
  facts: notes.FactsKept,
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

const WALLET = 'v:';

/**
 * Asks the realm about wallets, in requests of the profile's size. Wallets without a verdict are asked about again in
 * a later plan.
 */
async function gatherWallets(
  wallets: ReadonlySet<string>,
  chunk: number,
  { reads, facts, stop, onRead }: GatherOptions,
): Promise<(wallet: string) => WalletMembership> {
  const open = [...wallets].filter((wallet) => !facts.known.has(WALLET + wallet));
  for (let start = 0; start < open.length && !stop.aborted; start += chunk) {
    const asked = open.slice(start, start + chunk);
    const verdicts = await reads.wallets(asked);
    onRead();
    for (const wallet of asked) {
      const verdict = verdicts.get(wallet) ?? 'undetermined';
      if (verdict !== 'undetermined') await facts.keep(WALLET + wallet, verdict);
    }
  }
  return (wallet) => {
    const known = facts.known.get(WALLET + wallet);
    return known === 'member' || known === 'not-member' ? known : 'undetermined';
  };
}
