import { createHash } from 'node:crypto';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { counted } from '../core/counted.js';
import { isAlmonerError } from '../core/errors/error.js';
import { undefuse } from '../core/formula-cells.js';
import { memberId } from '../core/ids.js';
import { show } from '../core/visible.js';
import { readMemberCell } from '../csv/cells.js';
import { columnNamed, headerKey } from '../csv/columns.js';
import { readHeaderLine, splitHeader } from '../csv/header.js';
import { INTAKE_LIMITS, openSource, type Source } from '../csv/open.js';
import { hasSurplus, isBlank, readRecords } from '../csv/records.js';
import { BrokenFile } from '../csv/row.js';
import type { SourcePosition, YamlSource } from '../yaml/read-yaml.js';
import { type ValuePath, valueAt } from '../yaml/values.js';
import { type RuleFault, type RuleFaults, readRuleYaml, schemaFaults, YAML_BYTES_MAX } from './fault.js';
import { AUDIENCE_MEMBERS_MAX, type Audience, type AudienceRow, walletColumn } from './packed-audience.js';
import { type AudienceInput, audienceSchema } from './schema.js';

/** The members as read from a file. */
type Members = Pick<Audience, 'columns' | 'rows'>;

/** Where an audience is written: a file, and the path of its mapping in the file. */
type Written = {
  /** The absolute path, and the name that people use. */
  readonly file: string;
  readonly shown: string;
  readonly source: YamlSource;
  readonly path: ValuePath;
  readonly onFile: OnFile;
};

/** Called with each further file before it is opened. */
export type OnFile = (path: string) => Promise<void>;

/**
 * Reads the members from the rule itself, a CSV, or another YAML file that may refer further. `chain` holds the files
 * on the way, so that a cycle is refused instead of followed.
 */
export async function readAudience(
  /** Undefined, or without members, if the schema refused them. */
  input: AudienceInput | undefined,
  written: Written,
  chain: readonly string[] = [],
): Promise<Audience | RuleFaults> {
  const fault = (place: SourcePosition, code: RuleFault['code'], message: string) => ({
    faults: [{ file: written.shown, ...place, code, message }],
  });
  const has = (name: string) => valueAt(written.source.value, [...written.path, name]) !== undefined;
  if (input !== undefined && has('file') === has('members')) {
    const here = written.source.place(written.path);
    return fault(here, 'ALM_RULE_FIELD', 'audience: expected either `file` or `members`.');
  }
  if (input?.file === undefined && input?.members === undefined) return { faults: [] };
  const checkWallets = input.checkWallets ?? false;
  if (input.members !== undefined) {
    const rows = inlineRows(input.members, (index) =>
      written.source.place([...written.path, 'members', index]),
    );
    return finish({ file: written.shown, checkWallets, ...rows }, written.shown);
  }
  const name = input.file ?? '';
  const place = written.source.place([...written.path, 'file']);
  const path = resolve(dirname(written.file), name);
  const passed = [...chain, resolve(written.file)];
  if (passed.includes(path)) {
    const circle = [...passed.slice(passed.indexOf(path)), path].map((one) => relative(process.cwd(), one));
    return fault(
      place,
      'ALM_RULE_CIRCULAR',
      `These files refer to each other in a cycle: ${circle.join(' → ')}.`,
    );
  }
  await written.onFile(path);
  const missing = await missingFile(path, name);
  if (missing !== undefined) return fault(place, 'ALM_RULE_FILE_MISSING', missing);
  const shown = join(dirname(written.shown), name);
  if (!/\.ya?ml$/i.test(name)) {
    const read = await readAudienceCsv(path, shown);
    return 'faults' in read ? read : finish({ file: shown, checkWallets, ...read }, shown);
  }
  const inner = await readAudienceYaml(path, shown, written.onFile, passed);
  return 'faults' in inner || !checkWallets ? inner : finish({ ...inner, checkWallets }, inner.file);
}

async function readAudienceYaml(
  path: string,
  shown: string,
  onFile: OnFile,
  chain: readonly string[],
): Promise<Audience | RuleFaults> {
  const source = readRuleYaml(shown, await readFile(path, 'utf8'));
  if ('faults' in source) return source;
  const parsed = audienceSchema.safeParse(source.value);
  if (!parsed.success) return { faults: schemaFaults(shown, source, parsed.error.issues) };
  return readAudience(parsed.data, { file: path, shown, source, path: [], onFile }, chain);
}

/** Explains why a file of an audience cannot be read; undefined if it can. */
async function missingFile(path: string, name: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    // Reading from a pipe would block.
    if (!found.isFile())
      return `${JSON.stringify(name)} is ${found.isDirectory() ? 'a folder' : 'not a plain file'}, expected a CSV or YAML file.`;
    if (/\.ya?ml$/i.test(name) && found.size > YAML_BYTES_MAX)
      return `${JSON.stringify(name)} is larger than ${YAML_BYTES_MAX} bytes; put the members into a CSV.`;
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? `There is no file ${JSON.stringify(name)} (looked for ${relative(process.cwd(), path) || path}).`
      : `${JSON.stringify(name)} cannot be read (${code}).`;
  }
}

/** The checks that hold for every audience, whatever its source. */
function finish(audience: Omit<Audience, 'hash'>, file: string): Audience | RuleFaults {
  const faults: RuleFault[] = [];
  const add = (line: number, message: string) =>
    faults.push({ file, line, column: 1, code: 'ALM_RULE_AUDIENCE', message });
  const first = new Map<string, number>();
  const wallet = walletColumn(audience.columns);
  if (audience.checkWallets && wallet === -1) add(1, 'checkWallets needs a column `wallet` beside `member`.');
  if (audience.rows.length === 0) add(0, 'The audience has no members.');
  for (const row of audience.rows) {
    const earlier = first.get(row.member);
    if (earlier !== undefined)
      add(
        row.line,
        `Member ${row.member} is already on line ${earlier}; each member gets one award per period.`,
      );
    else first.set(row.member, row.line);
    if (audience.checkWallets && wallet !== -1 && (row.cells[wallet] ?? '').trim() === '')
      add(row.line, `Member ${row.member} has no wallet to check.`);
    if (faults.length >= FAULTS_MAX) break;
  }
  return faults.length > 0 ? { faults } : { ...audience, hash: hashOf(audience) };
}

/** Hashes columns, members and cells. A plan records this hash to recognize the same audience. */
function hashOf({ columns, rows, checkWallets }: Omit<Audience, 'hash'>): string {
  const hash = createHash('sha256').update(JSON.stringify([columns, checkWallets]));
  for (const { member, cells } of rows) hash.update(JSON.stringify([member, cells]));
  return hash.digest('hex');
}

const FAULTS_MAX = 50;

/** Members written in the rule itself. The columns are all names that any member has. */
function inlineRows(
  members: NonNullable<AudienceInput['members']>,
  placeOf: (index: number) => SourcePosition,
): Members {
  const columns = new Set(['member']);
  for (const entry of members)
    if (typeof entry === 'object') for (const name of Object.keys(entry)) columns.add(name);
  const rows = members.map((entry, index): AudienceRow => {
    const fields: Readonly<Record<string, unknown>> = typeof entry === 'object' ? entry : { member: entry };
    const cells = [...columns].map((name) =>
      String((Object.hasOwn(fields, name) ? fields[name] : null) ?? ''),
    );
    // The schema accepts only 1 to 20 digits without a leading zero, or a whole number.
    return { member: memberId(String(fields.member)), line: placeOf(index).line, cells };
  });
  return { columns: [...columns], rows };
}

/**
 * Reads an audience from a CSV with a column `member` and any others. It has the same guards as an order file
 * (encoding, quotes, ids), but is read into memory completely.
 */
async function readAudienceCsv(path: string, file: string): Promise<Members | RuleFaults> {
  const faults: RuleFault[] = [];
  const fault = (line: number, column: number, message: string) =>
    faults.push({ file, line, column, code: 'ALM_RULE_AUDIENCE', message });
  let source: Source | undefined;
  try {
    source = await openSource(path);
    return await read(source, fault, faults);
  } catch (error) {
    if (!isAlmonerError(error)) throw error;
    const line = error instanceof BrokenFile ? error.finding.line : 0;
    const message = error.message.replaceAll(path, file);
    return { faults: [...faults, { file, line, column: Math.min(line, 1), code: error.code, message }] };
  } finally {
    await source?.close();
  }
}

async function read(
  source: Source,
  fault: (line: number, column: number, message: string) => void,
  faults: readonly RuleFault[],
): Promise<Members | RuleFaults> {
  const head = await readHeaderLine(source.chunks(), INTAKE_LIMITS);
  const { delimiter, names } = splitHeader(head, (name) => columnNamed(name) === 'member');
  const memberAt = names.findIndex((name) => columnNamed(name) === 'member');
  if (memberAt === -1) {
    fault(
      head.line,
      1,
      `The header has no column \`member\`; it has ${names.map((name) => show(name)).join(', ')}.`,
    );
    return { faults };
  }
  const twice = names.findIndex(
    (name, at) => names.findIndex((one) => headerKey(one) === headerKey(name)) < at,
  );
  if (twice !== -1) fault(head.line, 1, `The column ${show(names[twice] ?? '')} occurs twice in the header.`);
  const rows: AudienceRow[] = [];
  const blocks = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells, flaw): null => {
    if (line <= head.line || isBlank(cells)) return null;
    const member = readMemberCell(undefuse(cells[memberAt] ?? ''));
    if (flaw !== 0) fault(line, 1, 'The row has quotes or line ends in a place where none are allowed.');
    else if (cells.length < names.length || hasSurplus(names, cells))
      fault(line, 1, `The row has ${counted(cells.length, 'cell')}, the header ${names.length}.`);
    else if (typeof member !== 'string') fault(line, memberAt + 1, member.message);
    else rows.push({ member, line, cells: cells.slice(0, names.length).map((text) => undefuse(text)) });
    return null;
  });
  for await (const _ of blocks) {
    if (faults.length >= FAULTS_MAX) break;
    if (rows.length > AUDIENCE_MEMBERS_MAX) {
      fault(0, 0, `The audience has more than ${AUDIENCE_MEMBERS_MAX} members.`);
      break;
    }
  }
  const columns = names.map((name, at) => (at === memberAt ? 'member' : name.trim()));
  return faults.length > 0 ? { faults } : { columns, rows };
}
