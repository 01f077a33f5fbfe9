import { stringify } from 'lossless-json';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError, isAlmonerError } from '../core/errors/error.js';
import type { MemberId } from '../core/ids.js';
import type { Rate } from '../core/profile.js';
import type { notes } from '../ledger/index.js';
import type { MemberRecord, Web3Record } from '../realm/client/client.js';
import type { WalletVerdicts } from '../realm/client/wallet-reply.js';
import type { Call, FactsUsed, FieldsUsed } from './facts-used.js';
import type { AudienceRow } from './packed-audience.js';

/** The reads of a realm; the caller has them paced and repeated. */
export type FactReader = {
  member(id: MemberId): Promise<MemberRecord>;
  web3(id: MemberId): Promise<Web3Record>;
  wallets(list: readonly string[]): Promise<WalletVerdicts>;
};

export type GatherOptions = {
  readonly reads: FactReader;
  readonly facts: notes.FactsKept;
  /** Fields to keep of each record: what all expressions of the rule name together. */
  readonly used: Pick<FactsUsed, Call>;
  readonly rate: Rate | null;
  readonly stop: AbortSignal;
  /** Hears of each request that was made; a failed one counts too. */
  readonly onRead: () => void;
  /** Members that may stay unread because the realm fails on them, before the reading is given up. */
  readonly unreadMax: number;
};

function atOnce(rate: Rate | null): number {
  if (rate === null) return AT_ONCE_MAX;
  return Math.min(AT_ONCE_MAX, Math.max(2, Math.ceil((rate.requests / rate.windowMs) * 2_000)));
}

/** Enough to fill a pace at two seconds a request. More would only wait for it, and hold up a stop. */
const AT_ONCE_MAX = 32;
const UNREAD_IN_A_ROW_MAX = 20;

export function factField(call: Call, member: MemberId): string {
  return `${call === 'member' ? 'm' : 'w'}:${member}`;
}

/** Stands for "the realm does not know this member". */
export const NOT_FOUND = '-';

/**
 * Reads what is not known yet, and keeps each answer before the next is asked for. Returns the members whose
 * facts could not be read although the realm is well: they are left out like those who lack a fact.
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

/** The balance, a blank, and the record as JSON, digit by digit as the realm wrote it. */
function encode(balance: string | null, record: unknown): string {
  return `${balance ?? ''} ${stringify(record) ?? 'null'}`;
}

function picked(raw: unknown, fields: FieldsUsed): unknown {
  if (fields === 'all' || typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([name]) => fields.has(name)));
}

/** A realm that answers others but not this: only one member is touched by it. */
const OF_ONE_MEMBER: readonly ErrorCode[] = [
  'ALM_REALM_SERVER_ERROR',
  'ALM_REALM_NOT_JSON',
  'ALM_REALM_REFUSED',
  'ALM_REALM_TOO_SLOW',
];

function isOfOneMember(error: unknown): error is AlmonerError {
  return isAlmonerError(error) && OF_ONE_MEMBER.includes(error.code);
}

function withKept(error: unknown, kept: number): unknown {
  if (!(error instanceof AlmonerError)) return error;
  return new AlmonerError(
    error.code,
    `${error.message} The reading of facts ended there: ${kept} facts are kept, nothing was enqueued.`,
    { next: `${error.next} The same command goes on where it ended.` },
  );
}

function interrupted(kept: number): AlmonerError {
  return new AlmonerError(
    'ALM_RULE_INTERRUPTED',
    `The reading of facts was interrupted; ${kept} facts are kept. Nothing was enqueued and nothing was sent.`,
  );
}
