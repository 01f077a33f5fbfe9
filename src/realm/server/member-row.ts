import { isLosslessNumber, parse } from 'lossless-json';
import { messageOf } from '../../core/errors/error.js';
import { type MemberSeed, seedFault } from './member-seed.js';

/** One line of a members file: a member, or what is wrong with it and where. */
export type MemberRow =
  | { readonly seed: MemberSeed; readonly fault?: undefined }
  | { readonly fault: MembersFault; readonly seed?: undefined };

export type MembersFault = {
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
};

const OWN_COLUMNS = ['member', 'tokens', 'wallets', 'web3'];
const INTEGER = /^-?[0-9]{1,16}$/;
/** Up to 15 digits are surely exact as a number; longer ones are ids and stay text. */
const NUMBER = /^-?(0|[1-9][0-9]{0,14})$/;

export function headerFault(header: readonly string[]): string | undefined {
  const names = header.map((name) => name.toLowerCase());
  if (names.includes('')) return `column ${names.indexOf('') + 1} has no name`;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `the column ${JSON.stringify(twice)} stands there twice`;
  const missing = ['member', 'tokens'].filter((name) => !names.includes(name));
  if (missing.length === 0) return undefined;
  return `expected a header with member, tokens and perhaps wallets and web3; missing: ${missing.join(', ')}`;
}

export function memberRow(header: readonly string[], cells: readonly string[], line: number): MemberRow {
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
function web3From(cell: string): Record<string, unknown> | string {
  if (cell === '') return {};
  try {
    const facts = parse(cell);
    if (isFacts(facts)) return facts;
    return 'expected a JSON object';
  } catch (error) {
    return `expected a JSON object: ${messageOf(error)}`;
  }
}

function isFacts(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
