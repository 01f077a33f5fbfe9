import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { parse as csvParser } from 'csv-parse';
import { parse } from 'lossless-json';
import { z } from 'zod';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import { isMemberId } from '../../core/ids.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { isWallet } from '../wallet.js';

/** A member as it is loaded: from a CSV, from the rows of a rehearsal, or from a test. */
export type MemberSeed = {
  readonly member: string;
  readonly tokens: number;
  readonly wallets?: readonly string[];
  /** Facts for the web3 call, as JSON; reward rules read them. */
  readonly web3?: Readonly<Record<string, unknown>>;
  /** Facts shown in the member record under `attributes`. */
  readonly attributes?: Readonly<Record<string, unknown>>;
};

const WALLETS_PER_MEMBER_MAX = 100;

/** What is wrong with a seed, as column and sentence; undefined: nothing. */
export function seedFault(seed: MemberSeed): { column: string; message: string } | undefined {
  const fault = (column: string, message: string) => ({ column, message });
  const { member, tokens, wallets = [] } = seed;
  if (!isMemberId(member))
    return fault('member', `expected 1 to 20 decimal digits, got ${JSON.stringify(member)}`);
  if (!Number.isSafeInteger(tokens))
    return fault('tokens', `expected a whole number within 2^53-1, got ${tokens}`);
  if (wallets.length > WALLETS_PER_MEMBER_MAX)
    return fault('wallets', `expected at most ${WALLETS_PER_MEMBER_MAX} wallets, got ${wallets.length}`);
  const bad = wallets.find((wallet) => !isWallet(wallet));
  if (bad === undefined) return undefined;
  return fault('wallets', `not a wallet of 1 to 128 visible characters: ${JSON.stringify(bad)}`);
}

/**
 * Members from a CSV: `member`, `tokens`, `wallets` (separated by blanks or `|`), `web3` (JSON); every
 * further column becomes an attribute of the member record. The file is read twice, first for faults, so
 * that a file with a fault on its last line loads nobody.
 */

const FAULTS_SHOWN_MAX = 100;
const HEADER_BYTES_MAX = 64 * 1024;
const parsedLine = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });

/** The members of a file that has no fault. */
export async function membersOfCsv(path: string): Promise<AsyncIterable<MemberSeed>> {
  const details: string[] = [];
  let found = 0;
  for await (const row of readMembersCsv(path)) {
    if (row.fault === undefined) continue;
    const { line, column, message } = row.fault;
    found += 1;
    const place = column === null ? `line ${line}` : `line ${line}, column ${column}`;
    if (details.length < FAULTS_SHOWN_MAX) details.push(`${place}: ${message}`);
  }
  if (found > 0) {
    const count = `${found} ${found === 1 ? 'fault' : 'faults'}`;
    const message = `The members file has ${count}. No member was loaded.`;
    throw new AlmonerError('ALM_SERVICE_MEMBERS_INVALID', message, { details });
  }
  return seedsOf(path);
}

async function* seedsOf(path: string): AsyncGenerator<MemberSeed> {
  for await (const row of readMembersCsv(path)) if (row.seed !== undefined) yield row.seed;
}

async function* readMembersCsv(path: string): AsyncGenerator<MemberRow> {
  const delimiter = await delimiterOf(path);
  const input = createReadStream(path);
  const parser = csvParser({
    bom: true,
    info: true,
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let header: readonly string[] | undefined;
  const lineOfMember = new Map<string, number>();
  try {
    for await (const parsed of parser) {
      const { record, info } = parsedLine.parse(parsed);
      if (header === undefined) {
        header = record.map((name) => name.trim());
        const message = headerFault(header);
        if (message === undefined) continue;
        yield { fault: { line: info.lines, column: null, message } };
        return;
      }
      const row = memberRow(header, record, info.lines);
      const earlier = row.seed === undefined ? undefined : lineOfMember.get(row.seed.member);
      if (earlier !== undefined) {
        const message = `this member already stands in line ${earlier}`;
        yield { fault: { line: info.lines, column: 'member', message } };
        continue;
      }
      if (row.seed !== undefined) lineOfMember.set(row.seed.member, info.lines);
      yield row;
    }
    if (header === undefined) yield { fault: { line: 1, column: null, message: 'the file is empty' } };
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('CSV_'))
      throw error;
    const line = 'lines' in error && typeof error.lines === 'number' ? error.lines : 0;
    yield { fault: { line, column: null, message: messageOf(error) } };
  } finally {
    input.destroy();
  }
}

/** The one of `,` `;` and tab that the header line holds most of. */
async function delimiterOf(path: string): Promise<string> {
  let start: string;
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES_MAX), 0, HEADER_BYTES_MAX, 0);
      start = buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    const message = `The members file cannot be read: ${messageOf(cause)}. No member was loaded.`;
    const next = 'Check the name of the file and that you may read it.';
    throw new AlmonerError('ALM_SERVICE_MEMBERS_INVALID', message, { next, cause });
  }
  const line = start.split(/\r?\n/, 1)[0] ?? '';
  const count = (delimiter: string) => line.split(delimiter).length;
  return [';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best), ',');
}

/** One line of a members file: a member, or what is wrong with it and where. */
type MemberRow =
  | { readonly seed: MemberSeed; readonly fault?: undefined }
  | { readonly fault: MembersFault; readonly seed?: undefined };

type MembersFault = {
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
};

const OWN_COLUMNS = ['member', 'tokens', 'wallets', 'web3'];
const INTEGER = /^-?[0-9]{1,16}$/;
/** Up to 15 digits are surely exact as a number; longer ones are ids and stay text. */
const NUMBER = /^-?(0|[1-9][0-9]{0,14})$/;

function headerFault(header: readonly string[]): string | undefined {
  const names = header.map((name) => name.toLowerCase());
  if (names.includes('')) return `column ${names.indexOf('') + 1} has no name`;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `the column ${JSON.stringify(twice)} stands there twice`;
  const missing = ['member', 'tokens'].filter((name) => !names.includes(name));
  if (missing.length === 0) return undefined;
  return `expected a header with member, tokens and perhaps wallets and web3; missing: ${missing.join(', ')}`;
}

function memberRow(header: readonly string[], cells: readonly string[], line: number): MemberRow {
  const fault = (column: string | null, message: string): MemberRow => ({ fault: { line, column, message } });
  if (cells.length !== header.length) {
    return fault(null, `expected ${header.length} cells as in the header, got ${cells.length}`);
  }
  const own = new Map<string, string>();
  const attributes = new Map<string, unknown>();
  for (const [at, name] of header.entries()) {
    const cell = (cells[at] ?? '').trim();
    if (OWN_COLUMNS.includes(name.toLowerCase())) own.set(name.toLowerCase(), cell);
    else if (cell !== '') attributes.set(name, attributeOf(cell));
  }

  const tokens = own.get('tokens') ?? '';
  if (!INTEGER.test(tokens)) {
    return fault('tokens', `expected a whole number in plain digits, got ${JSON.stringify(tokens)}`);
  }
  const web3 = web3From(own.get('web3') ?? '');
  if (typeof web3 === 'string') return fault('web3', web3);
  const wallets = (own.get('wallets') ?? '').split(/[\s|]+/).filter((wallet) => wallet !== '');
  const seed = {
    member: own.get('member') ?? '',
    tokens: Number(tokens),
    wallets,
    web3,
    attributes: Object.fromEntries(attributes),
  };
  const wrong = seedFault(seed);
  return wrong === undefined ? { seed } : fault(wrong.column, wrong.message);
}

function attributeOf(cell: string): unknown {
  if (NUMBER.test(cell)) return Number(cell);
  if (cell === 'true' || cell === 'false') return cell === 'true';
  return cell;
}

/** The facts, or a sentence that says why they cannot be read. */
function web3From(cell: string): JsonObject | string {
  if (cell === '') return {};
  try {
    const facts = parse(cell);
    return isJsonObject(facts) ? facts : 'expected a JSON object';
  } catch (error) {
    return `expected a JSON object: ${messageOf(error)}`;
  }
}
