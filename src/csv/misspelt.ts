import { distance } from 'fastest-levenshtein';
import type { Column } from '../core/columns.js';
import { ALIASES, columnLike, headerKey } from './columns.js';

/** Ordinary words within one or two letters of a known name. They are not typing errors. */
const ORDINARY_WORDS: ReadonlySet<string> = new Set(
  'season region account preference prints print paint paints joints user_ip userip real realty reads current currently'.split(
    ' ',
  ),
);

/**
 * The known name that a header probably means. Short names are ignored (`no` is not a misspelt `to`). Two wrong
 * letters count only if the first letter is right, so `number`, `person` and `count` are left alone.
 */
export function nearlyNamed(name: string): { spelling: string; column: Column } | undefined {
  const key = headerKey(name);
  if (columnLike(name) !== undefined) return undefined;
  if (key.length < 5 || key.length > 20 || ORDINARY_WORDS.has(key)) return undefined;
  let best: { spelling: string; column: Column; off: number } | undefined;
  for (const [spelling, column] of ALIASES) {
    if (spelling.length < 5) continue;
    const off = distance(key, spelling);
    if (off > 2 || off === 0 || (off === 2 && key[0] !== spelling[0])) continue;
    if (best === undefined || off < best.off) best = { spelling, column, off };
  }
  return best;
}
