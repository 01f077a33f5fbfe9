import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { parse as csvParser } from 'csv-parse';
import { z } from 'zod';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import type { RealmAdmin } from './admin.js';
import { headerFault, type MemberRow, memberRow } from './member-row.js';
import type { MemberSeed } from './member-seed.js';

/**
 * Members from a CSV: `member`, `tokens`, `wallets` (separated by blanks or `|`), `web3` (JSON); every
 * further column becomes an attribute of the member record. The file is read twice, first for faults, so
 * that a file with a fault on its last line loads nobody.
 */

const FAULTS_SHOWN_MAX = 100;
const HEADER_BYTES_MAX = 64 * 1024;
const parsedLine = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });

/** Loads the file and returns how many members are new. Members that exist keep their balance. */
export async function loadMembersCsv(admin: RealmAdmin, realmId: string, path: string): Promise<number> {
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
  return admin.putMembers(realmId, seedsOf(path), 'keep');
}

async function* seedsOf(path: string): AsyncGenerator<MemberSeed> {
  for await (const row of readMembersCsv(path)) if (row.seed !== undefined) yield row.seed;
}

export async function* readMembersCsv(path: string): AsyncGenerator<MemberRow> {
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
