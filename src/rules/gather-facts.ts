import { stringify } from 'lossless-json';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError, isAlmonerError } from '../core/errors/error.js';
import type { MemberId } from '../core/ids.js';
import type { Rate } from '../core/profile.js';
import type { notes } from '../ledger/index.js';
import type { MemberRecord, Web3Record } from '../realm/client/client.js';
import type { WalletMemberships } from '../realm/client/wallet-reply.js';
import type { Call, FactsUsed, FieldsUsed } from './facts-used.js';
import type { AudienceRow } from './packed-audience.js';

/** The reads of a realm. The caller provides pacing and retries. */
export type FactReader = {
  member(id: MemberId): Promise<MemberRecord>;
  web3(id: MemberId): Promise<Web3Record>;
  wallets(list: readonly string[]): Promise<WalletMemberships>;
};

/** Everything that reading facts needs. */
export type GatherOptions = {
  readonly reads: FactReader;
  readonly facts: notes.FactsKept;
  /** The fields to keep of each record: the union over all expressions of the rule. */
  readonly used: Pick<FactsUsed, Call>;
  readonly rate: Rate | null;
  readonly stop: AbortSignal;
  /** Called for each request, also for a failed one. */
  readonly onRead: () => void;
  /** How many members may stay unread because of the realm, before reading is given up. */
  readonly unreadMax: number;
};

function atOnce(rate: Rate | null): number {
  if (rate === null) return AT_ONCE_MAX;
  return Math.min(AT_ONCE_MAX, Math.max(2, Math.ceil((rate.requests / rate.windowMs) * 2_000)));
}

/**
 * Parallel reads: enough to use the full pace at two seconds per request. More would only wait for the pace and delay
 * a stop.
 */
const AT_ONCE_MAX = 32;
const UNREAD_IN_A_ROW_MAX = 20;

/** The key under which a fact is stored while a plan is read. */
export function factField(call: Call, member: MemberId): string {
  return `${call === 'member' ? 'm' : 'w'}:${member}`;
}

/** Marks a member that the realm does not know. */
export const NOT_FOUND = '-';

/**
 * Reads the missing facts and stores each answer before it requests the next. Returns the members whose facts could
 * not be read although the realm is healthy. They are left out, like members who lack a fact.
 */
export async function gatherFacts(
  slices: AsyncIterable<readonly AudienceRow[]>,
  calls: readonly Call[],
  options: GatherOptions,
): Promise<Map<string, string>> {
  const unread = new Map<string, string>();
  const wanted = unknownOf(slices, calls, options.facts);
  let inARow = 0;
  let failure: unknown;
  const work = async (): Promise<void> => {
    while (failure === undefined && !options.stop.aborted) {
      const { value, done } = await wanted.next();
      if (done) return;
      const { call, member, field } = value;
      try {
        await options.facts.keep(field, await readOne(call, member, options));
        inARow = 0;
      } catch (error) {
        if (!isOfOneMember(error)) throw error;
        unread.set(field, error.message);
        if (++inARow >= UNREAD_IN_A_ROW_MAX || unread.size > options.unreadMax) throw error;
      } finally {
        options.onRead();
      }
    }
  };
  const workers = Array.from({ length: atOnce(options.rate) }, () =>
    work().catch((error: unknown) => {
      failure ??= error;
    }),
  );
  await Promise.all(workers);
  if (failure !== undefined) throw withKept(failure, options.facts.known.size);
  if (options.stop.aborted) throw interrupted(options.facts.known.size);
  return unread;
}

async function* unknownOf(
  slices: AsyncIterable<readonly AudienceRow[]>,
  calls: readonly Call[],
  { known }: notes.FactsKept,
) {
  for await (const rows of slices)
    for (const { member } of rows)
      for (const call of calls) {
        const field = factField(call, member);
        if (!known.has(field)) yield { call, member, field };
      }
}

async function readOne(call: Call, member: MemberId, { reads, used }: GatherOptions): Promise<string> {
  try {
    if (call === 'web3') return encode(null, picked((await reads.web3(member)).raw, used.web3));
    const { balance, raw } = await reads.member(member);
    return encode(balance, picked(raw, used.member));
  } catch (error) {
    if (isAlmonerError(error, 'ALM_REALM_MEMBER_NOT_FOUND')) return NOT_FOUND;
    throw error;
  }
}

/** Stored form: the balance, a blank, and the record as JSON with the digits that the realm wrote. */
function encode(balance: string | null, record: unknown): string {
  return `${balance ?? ''} ${stringify(record) ?? 'null'}`;
}

/** Keeps only the fields that the rule names. */
function picked(raw: unknown, fields: FieldsUsed): unknown {
  if (fields === 'all' || typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([name]) => fields.has(name)));
}

/** Errors that concern one member only: the realm answers for other members. */
const OF_ONE_MEMBER: readonly ErrorCode[] = [
  'ALM_REALM_SERVER_ERROR',
  'ALM_REALM_NOT_JSON',
  'ALM_REALM_REFUSED',
  'ALM_REALM_TOO_SLOW',
];

function isOfOneMember(error: unknown): error is AlmonerError {
  return isAlmonerError(error) && OF_ONE_MEMBER.includes(error.code);
}

/** Adds to an error that the facts read so far are kept, and how to continue. */
function withKept(error: unknown, kept: number): unknown {
  if (!(error instanceof AlmonerError)) return error;
  return new AlmonerError(
    error.code,
    `${error.message} Reading stopped there: ${kept} facts are kept and nothing was enqueued.`,
    { next: `${error.next} Run the same command again to continue from there.` },
  );
}

function interrupted(kept: number): AlmonerError {
  return new AlmonerError(
    'ALM_RULE_INTERRUPTED',
    `Reading the facts was interrupted; ${kept} facts are kept. Nothing was enqueued and nothing was sent.`,
  );
}
