import { parse } from 'lossless-json';
import { AlmonerError, isAlmonerError, messageOf } from '../../core/errors/error.js';
import { isMemberId, MEMBER_ID_EXPECTED } from '../../core/ids.js';
import { headerKey } from '../../csv/columns.js';
import { readHeaderLine, splitHeader } from '../../csv/header.js';
import { INTAKE_LIMITS, openSource, type Source } from '../../csv/open.js';
import { isBlank, readRecords, recordFaults } from '../../csv/records.js';
import { BrokenFile } from '../../csv/row.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { isWallet } from '../wallet.js';

/** A member to load: from a CSV, from the rows of a rehearsal, or from a test. */
export type MemberSeed = {
  readonly member: string;
  readonly tokens: number;
  readonly wallets?: readonly string[];
  /** Facts for the web3 call, as JSON. Reward rules read them. */
  readonly web3?: Readonly<Record<string, unknown>>;
  /** Facts that the member record shows under `attributes`. */
  readonly attributes?: Readonly<Record<string, unknown>>;
};

const WALLETS_PER_MEMBER_MAX = 100;

/** The fault of a seed, as column and sentence; undefined if it has none. */
export function seedFault(seed: MemberSeed): { column: string; message: string } | undefined {
  const fault = (column: string, message: string) => ({ column, message });
  const { member, tokens, wallets = [] } = seed;
  if (!isMemberId(member))
    return fault('member', `expected ${MEMBER_ID_EXPECTED}, got ${JSON.stringify(member)}`);
  if (!Number.isSafeInteger(tokens))
    return fault('tokens', `expected a whole number within 2^53-1, got ${tokens}`);
  if (wallets.length > WALLETS_PER_MEMBER_MAX)
    return fault('wallets', `expected at most ${WALLETS_PER_MEMBER_MAX} wallets, got ${wallets.length}`);
  const bad = wallets.find((wallet) => !isWallet(wallet));
  if (bad === undefined) return undefined;
  return fault('wallets', `not a wallet of 1 to 128 visible characters: ${JSON.stringify(bad)}`);
}

/** The number of faults that an error lists. */

const FAULTS_SHOWN_MAX = 100;

/**
 * Reads members from a CSV: `member`, `tokens`, `wallets` (separated by blanks or `|`) and `web3` (JSON). Every other
 * column becomes an attribute of the member record. The file is read twice, first for faults, so that a fault on the
 * last line loads no member.
 */
export async function membersOfCsv(path: string): Promise<AsyncIterable<MemberSeed>> {
  const source = await openSource(path).catch((cause: unknown) => {
    const why = messageOf(isAlmonerError(cause) ? (cause.cause ?? cause) : cause);
    const message = `The members file cannot be read: ${why.replace(/(\. Nothing was done)?\.$/, '')}. No member was loaded.`;
    const next = 'Check the name of the file and that you may read it.';
    throw new AlmonerError('ALM_SERVICE_MEMBERS_INVALID', message, { next, cause });
  });
  try {
    const details: string[] = [];
    let found = 0;
    for await (const row of readMembersCsv(source)) {
      if (typeof row !== 'string') continue;
      found += 1;
      if (details.length < FAULTS_SHOWN_MAX) details.push(row);
    }
    if (found === 0) return seedsOf(source);
    const count = `${found} ${found === 1 ? 'fault' : 'faults'}`;
    const message = `The members file has ${count}. No member was loaded.`;
    throw new AlmonerError('ALM_SERVICE_MEMBERS_INVALID', message, { details });
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Reads the members in a second pass, after the first found no fault. */
async function* seedsOf(source: Source): AsyncGenerator<MemberSeed> {
  try {
    for await (const row of readMembersCsv(source)) {
      if (typeof row === 'string') throw new Error(`the members file changed while it was read: ${row}`);
      yield row;
    }
  } finally {
    await source.close();
  }
}

/** Yields one item per line: a member, or a sentence that says what is wrong and where. */
async function* readMembersCsv(source: Source): AsyncGenerator<MemberSeed | string> {
  const lineOfMember = new Map<string, number>();
  try {
    const head = await readHeaderLine(source.chunks(), INTAKE_LIMITS);
    const { delimiter, names } = splitHeader(head, (name) => OWN_COLUMNS.includes(headerKey(name)));
    const wrong = headerFault(names);
    if (wrong !== undefined) {
      yield faultAt(head.line, null, wrong);
      return;
    }
    const records = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells, flaw) => {
      if (line <= head.line || isBlank(cells)) return undefined;
      const [odd] = recordFaults(names, line, cells, flaw);
      if (odd !== undefined) return faultAt(line, odd.column, odd.message);
      const row = memberRow(names, cells, line);
      if (typeof row === 'string') return row;
      const earlier = lineOfMember.get(row.member);
      if (earlier !== undefined)
        return faultAt(line, 'member', `this member already stands in line ${earlier}`);
      lineOfMember.set(row.member, line);
      return row;
    });
    for await (const block of records) yield* block;
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    yield faultAt(Math.max(1, error.finding.line), null, error.finding.message);
  }
}

function faultAt(line: number, column: string | null, message: string): string {
  return `line ${line}${column === null ? '' : `, column ${column}`}: ${message}`;
}

const OWN_COLUMNS = ['member', 'tokens', 'wallets', 'web3'];
const INTEGER = /^-?[0-9]{1,16}$/;
/** Up to 15 digits are exact as a JavaScript number. Longer values are treated as ids and stay text. */
const NUMBER = /^-?(0|[1-9][0-9]{0,14})$/;

function headerFault(header: readonly string[]): string | undefined {
  const names = header.map(headerKey);
  if (names.includes('')) return `column ${names.indexOf('') + 1} has no name`;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `the column ${JSON.stringify(twice)} stands there twice`;
  const missing = ['member', 'tokens'].filter((name) => !names.includes(name));
  if (missing.length === 0) return undefined;
  return `expected a header with member, tokens and perhaps wallets and web3; missing: ${missing.join(', ')}`;
}

/** Turns a row into a member, or into a sentence about its fault. */
function memberRow(names: readonly string[], cells: readonly string[], line: number): MemberSeed | string {
  const own = new Map<string, string>();
  const attributes = new Map<string, unknown>();
  for (const [at, name] of names.entries()) {
    const cell = (cells[at] ?? '').trim();
    if (OWN_COLUMNS.includes(headerKey(name))) own.set(headerKey(name), cell);
    else if (cell !== '') attributes.set(name.trim(), attributeOf(cell));
  }

  const tokens = own.get('tokens') ?? '';
  if (!INTEGER.test(tokens))
    return faultAt(line, 'tokens', `expected a whole number in plain digits, got ${JSON.stringify(tokens)}`);
  const web3 = web3From(own.get('web3') ?? '');
  if (typeof web3 === 'string') return faultAt(line, 'web3', web3);
  const wallets = (own.get('wallets') ?? '').split(/[\s|]+/).filter((wallet) => wallet !== '');
  const seed = {
    member: own.get('member') ?? '',
    tokens: Number(tokens),
    wallets,
    web3,
    attributes: Object.fromEntries(attributes),
  };
  const wrong = seedFault(seed);
  return wrong === undefined ? seed : faultAt(line, wrong.column, wrong.message);
}

/** Reads a cell as a number, true, false or text. */
function attributeOf(cell: string): unknown {
  if (NUMBER.test(cell)) return Number(cell);
  if (cell === 'true' || cell === 'false') return cell === 'true';
  return cell;
}

/** The parsed facts, or a sentence that says why they cannot be read. */
function web3From(cell: string): JsonObject | string {
  if (cell === '') return {};
  try {
    const facts = parse(cell);
    return isJsonObject(facts) ? facts : 'expected a JSON object';
  } catch (error) {
    return `expected a JSON object: ${messageOf(error)}`;
  }
}
