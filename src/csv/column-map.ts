import { AlmonerError } from '../core/errors/error.js';
import { COLUMNS, type Column, headerKey, isColumn } from './columns.js';

/** Which header stands for which meaning, where the operator said so. */
export type ColumnMap = ReadonlyMap<Column, string>;

/** Reads `--map tokens=Punkte` (any number of times). The column's name may itself hold a `=`. */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  const map = new Map<Column, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const meaning = text.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const header = text.slice(at + 1).trim();
    if (!isColumn(meaning) || header === '')
      throw new AlmonerError(
        'ALM_CLI_USAGE',
        `--map ${JSON.stringify(text)}: expected MEANING=COLUMN with one of ${COLUMNS.join(', ')} before the "=".`,
      );
    if (map.has(meaning)) throw new AlmonerError('ALM_CLI_USAGE', `--map names ${meaning} twice.`);
    if ([...map.values()].some((other) => headerKey(other) === headerKey(header)))
      throw new AlmonerError('ALM_CLI_USAGE', `--map gives the column ${header} two meanings.`);
    map.set(meaning, header);
  }
  return map;
}
