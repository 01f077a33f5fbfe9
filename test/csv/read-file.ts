import { Readable } from 'node:stream';
import type { ColumnMap } from '../../src/csv/columns.js';
import { NO_COLUMN_OPTIONS } from '../../src/csv/mapping.js';
import { type IntakeLimits, openSource, type Source } from '../../src/csv/open.js';
import { parseSheet } from '../../src/csv/parse.js';
import type { Finding, Row, Sheet } from '../../src/csv/row.js';
import { Findings } from '../../src/planning/findings.js';
import { type ReadThrough, readThrough } from './read-through.js';

const REALM = { baseUrl: 'https://realm.example', realmId: '777' };

export type Reading = {
  readonly sheet: Sheet | null;
  readonly through: ReadThrough | null;
  readonly rows: readonly Row[];
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
};

export type ReadingOptions = {
  readonly map?: ColumnMap;
  readonly limits?: Partial<IntakeLimits>;
  readonly maxTokensPerOrder?: number;
  readonly maxTokensPerBatch?: number;
  readonly again?: string;
  readonly currency?: string;
};

/** Reads a file to its end the way a plan does, and its rows once more the way storing them does. */
export async function readFileWhole(file: string, options: ReadingOptions = {}): Promise<Reading> {
  return readSource(await openSource(file), options);
}

/** The same for bytes, handed in through standard input. */
export async function readBytes(bytes: string | Buffer, options: ReadingOptions = {}): Promise<Reading> {
  return readSource(await openSource('-', { stdin: Readable.from([Buffer.from(bytes)]) }), options);
}

async function readSource(source: Source, options: ReadingOptions): Promise<Reading> {
  const findings = new Findings();
  try {
    const parsed = await parseSheet(source, {
      realms: ['guild', '777'],
      currency: options.currency ?? null,
      maxTokensPerOrder: options.maxTokensPerOrder ?? null,
      wish: { ...NO_COLUMN_OPTIONS, map: options.map ?? new Map() },
      limits: options.limits ?? {},
    });
    if ('faults' in parsed)
      return { sheet: null, through: null, rows: [], faults: parsed.faults, warnings: [] };
    const caps = { maxTokensPerBatch: options.maxTokensPerBatch ?? null };
    const through = await readThrough(parsed, REALM, caps, options.again ?? null, findings);
    const rows: Row[] = [];
    if (through.sha256 !== null) for await (const block of parsed.blocks) rows.push(...block);
    const { sheet } = parsed;
    return { sheet, through, rows, faults: findings.faults(1000), warnings: findings.warnings() };
  } finally {
    findings.close();
    await source.close();
  }
}
