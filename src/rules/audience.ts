import { createHash } from 'node:crypto';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { type MemberId, memberId } from '../core/ids.js';
import { type Place, type ValuePath, valueAt, type YamlSource } from '../yaml/read-yaml.js';
import { readAudienceCsv } from './audience-csv.js';
import { type Audience, type AudienceRow, walletColumn } from './audience-row.js';
import { type RuleFault, readRuleYaml, schemaFaults, YAML_BYTES_MAX } from './fault.js';
import { type AudienceInput, audienceSchema } from './schema.js';

export type AudienceResult = Audience | { readonly faults: readonly RuleFault[] };

/** Where an audience is written: a file, and the place of its mapping in it. */
type Written = {
  /** Where it lies, and what people call it. */
  readonly file: string;
  readonly shown: string;
  readonly source: YamlSource;
  readonly path: ValuePath;
  readonly onFile: OnFile;
};

/** Told of each further file before it is looked for. */
export type OnFile = (path: string) => Promise<void>;

/**
 * Finds the members: in the rule itself, in a CSV, or in another YAML file that says the same in its turn.
 * `chain` holds the files passed on the way, so that a circle is found instead of followed.
 */
export async function readAudience(
  /** Undefined, or without its members, where the schema has refused them. */
  input: AudienceInput | undefined,
  written: Written,
  chain: readonly string[] = [],
): Promise<AudienceResult> {
  const fault = (place: Place, code: RuleFault['code'], message: string) => ({
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
      `These files refer to each other in a circle: ${circle.join(' → ')}.`,
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
): Promise<AudienceResult> {
  const source = readRuleYaml(shown, await readFile(path, 'utf8'));
  if ('faults' in source) return source;
  const parsed = audienceSchema.safeParse(source.value);
  if (!parsed.success) return { faults: schemaFaults(shown, source, parsed.error.issues) };
  return readAudience(parsed.data, { file: path, shown, source, path: [], onFile }, chain);
}

async function missingFile(path: string, name: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    // A pipe would be waited for.
    if (!found.isFile())
      return `${JSON.stringify(name)} is ${found.isDirectory() ? 'a folder' : 'no plain file'}, expected a CSV or YAML file.`;
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

/** What holds for every audience, wherever it came from. */
function finish(audience: Omit<Audience, 'hash'>, file: string): AudienceResult {
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
        `Member ${row.member} stands on line ${earlier} already; one award for each member and period.`,
      );
    else first.set(row.member, row.line);
    if (audience.checkWallets && wallet !== -1 && (row.cells[wallet] ?? '').trim() === '')
      add(row.line, `Member ${row.member} has no wallet to check.`);
    if (faults.length >= FAULTS_MAX) break;
  }
  return faults.length > 0 ? { faults } : { ...audience, hash: hashOf(audience) };
}

function hashOf({ columns, rows, checkWallets }: Omit<Audience, 'hash'>): string {
  const hash = createHash('sha256').update(JSON.stringify([columns, checkWallets]));
  for (const { member, cells } of rows) hash.update(JSON.stringify([member, cells]));
  return hash.digest('hex');
}

const FAULTS_MAX = 50;

/** Members written into the rule itself; the columns are all names that any of them has. */
function inlineRows(
  members: NonNullable<AudienceInput['members']>,
  placeOf: (index: number) => Place,
): { readonly columns: readonly string[]; readonly rows: readonly AudienceRow[] } {
  const columns = new Set(['member']);
  for (const entry of members)
    if (typeof entry === 'object') for (const name of Object.keys(entry)) columns.add(name);
  const rows = members.map((entry, index): AudienceRow => {
    const { line } = placeOf(index);
    if (typeof entry !== 'object')
      return { member: idOf(entry), line, cells: [String(entry), ...blanks(columns.size - 1)] };
    const cells = [...columns].map((name) => {
      const value = Object.hasOwn(entry, name) ? entry[name] : null;
      return value === null || value === undefined ? '' : String(value);
    });
    return { member: idOf(entry.member), line, cells };
  });
  return { columns: [...columns], rows };
}

/** The schema has let through 1 to 20 digits, or a whole number. */
function idOf(written: string | number): MemberId {
  return memberId(String(written));
}

function blanks(count: number): string[] {
  return Array.from({ length: count }, () => '');
}
