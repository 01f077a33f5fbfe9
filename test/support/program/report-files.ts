import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { undefuse } from '../../../src/core/formula-cells.js';

/** Reads report rows as the import does: RFC 4180, with escaped formula cells restored. */
export async function readRows(folder: string, name: string, delimiter = ','): Promise<string[][]> {
  const text = await readFile(join(folder, name), 'utf8');
  const rows: string[][] = parse(text, { delimiter, relax_column_count: true, record_delimiter: '\n' });
  return rows.map((cells) => cells.map(undefuse));
}

/** Every file below a folder with its checksum, to compare whole reports. */
export async function checksums(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sums: [string, string][] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const sum = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    sums.push([path.slice(folder.length + 1), sum]);
  }
  return Object.fromEntries(sums.sort());
}
