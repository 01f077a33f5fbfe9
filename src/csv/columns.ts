import { distance } from 'fastest-levenshtein';
import { AlmonerError } from '../core/errors/error.js';

/** The columns that have a meaning, and what each may be called. */
const SPELLINGS = {
  member: ['member', 'memberid', 'member_id', 'userid', 'user_id'],
  tokens: ['tokens', 'amount', 'points'],
  recipient: ['recipient', 'recipientid', 'recipient_id', 'to'],
  op: ['op'],
  reference: ['reference'],
  reason: ['reason', 'note'],
  realm: ['realm'],
  currency: ['currency'],
} as const;
export type Column = keyof typeof SPELLINGS;

/** Columns that our own reports put behind the input's; they leave the sheet when the file is run again. */
export const OWN_COLUMNS = ['almoner_order', 'almoner_state', 'almoner_error_code', 'almoner_error'] as const;
/** Behind them in doubt.csv: what a person compares with the realm's own log. */
export const TRACE_COLUMNS = [
  'almoner_sent_at',
  'almoner_key',
  'almoner_request_id',
  'almoner_balance_before',
  'almoner_balance_in_doubt',
  'almoner_recipient_before',
  'almoner_recipient_in_doubt',
] as const;
const ALL_OWN = [...OWN_COLUMNS, ...TRACE_COLUMNS];
type OwnColumn = (typeof ALL_OWN)[number];

const COLUMNS = Object.keys(SPELLINGS).filter(isColumn);
const ALIASES: ReadonlyMap<string, Column> = new Map(
  COLUMNS.flatMap((column) => SPELLINGS[column].map((spelling) => [spelling, column] as const)),
);

/** Names compare without case and without blanks around them. */
export function headerKey(name: string): string {
  return name.trim().toLowerCase();
}

export function columnNamed(name: string): Column | undefined {
  return ALIASES.get(headerKey(name));
}

function isColumn(name: string): name is Column {
  return Object.hasOwn(SPELLINGS, name);
}

export function ownColumnNamed(name: string): OwnColumn | undefined {
  const key = headerKey(name);
  return ALL_OWN.find((own) => own === key);
}

/** What a column may be called, for messages. */
export function spellingsOf(column: Column): string {
  return SPELLINGS[column].join(', ');
}

/** Ordinary words that happen to be a letter or two away from a known name; they are nobody's typing error. */
const ORDINARY_WORDS: ReadonlySet<string> = new Set(
  'season region account preference prints print paint paints joints user_ip userip real realty reads current currently'.split(
    ' ',
  ),
);

/**
 * The known name that a header was probably meant to be. Short names are left out (`no` is not a misspelt
 * `to`), and two wrong letters count only when the first letter is right, so that `number`, `person` and
 * `count` stay what they are.
 */
export function nearlyNamed(name: string): { spelling: string; column: Column } | undefined {
  const key = headerKey(name);
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
