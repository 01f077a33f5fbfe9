import { COLUMNS, type Column } from '../core/columns.js';
import { AlmonerError } from '../core/errors/error.js';

/** The meanings of columns and the names that each may have. */
const SPELLINGS: Readonly<Record<Column, readonly string[]>> = {
  member: ['member', 'memberid', 'member_id', 'userid', 'user_id'],
  tokens: ['tokens', 'amount', 'points'],
  recipient: ['recipient', 'recipientid', 'recipient_id', 'to'],
  op: ['op'],
  reference: ['reference'],
  reason: ['reason', 'note'],
  realm: ['realm'],
  currency: ['currency'],
};

/**
 * Names that spreadsheets, chat bots and wallet tools use, compared by letters and digits alone. They count only if
 * no column has one of the names above, because a person who wrote such a name meant it. A single `token` is not in
 * the list: wallet tools number the pieces of a collection with it.
 */
const LIKE: Readonly<Partial<Record<Column, readonly string[]>>> = {
  member: [
    'memberid',
    'userid',
    'discordid',
    'discorduserid',
    'discordmemberid',
    'userdiscordid',
    'memberdiscordid',
    'snowflake',
  ],
  tokens: [
    'tokenamount',
    'tokensamount',
    'pointamount',
    'pointsamount',
    'amountofpoints',
    'numberofpoints',
    'pointstoadd',
    'pointstogive',
    'pointsawarded',
  ],
  recipient: ['recipientid', 'recipientuserid', 'recipientdiscordid', 'tomember', 'tomemberid', 'touserid'],
};

/** Column names for wallets and handles, which a member table turns into member ids. */
const KEYS = [
  'wallet',
  'walletaddress',
  'address',
  'ethaddress',
  'holderaddress',
  'handle',
  'username',
  'discordusername',
  'discordhandle',
  'discordname',
  'discordtag',
];

/** Columns that almoner's own reports add. They are removed when the file is run again. */
export const OWN_COLUMNS = ['almoner_order', 'almoner_state', 'almoner_error_code', 'almoner_error'] as const;
/** Further columns in doubt.csv: the values that a person compares with the realm's own log. */
export const TRACE_COLUMNS = [
  'almoner_doubt',
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

export const ALIASES: ReadonlyMap<string, Column> = new Map(
  COLUMNS.flatMap((column) => SPELLINGS[column].map((spelling) => [spelling, column] as const)),
);

/** Normalizes a column name: comparison ignores case and surrounding blanks. */
export function headerKey(name: string): string {
  return name.trim().toLowerCase();
}

/** The meaning of an exact column name. */
export function columnNamed(name: string): Column | undefined {
  return ALIASES.get(headerKey(name));
}

/** Keeps the letters and digits of a name: `User ID`, `user-id` and `UserID` are equal. */
function lettersOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const LIKES: ReadonlyMap<string, Column> = new Map(
  COLUMNS.flatMap((column) => (LIKE[column] ?? []).map((letters) => [letters, column] as const)),
);

/** The meaning of a similar name, if it has one. */
export function columnLike(name: string): Column | undefined {
  return columnNamed(name) === undefined ? LIKES.get(lettersOf(name)) : undefined;
}

/** True if the column holds wallets or handles, which a member table translates. */
export function isKeyName(name: string): boolean {
  return KEYS.includes(lettersOf(name));
}

/** True if the name is one for wallets. */
export function isWalletName(name: string): boolean {
  return /wallet|address/.test(lettersOf(name));
}

export function isColumn(name: string): name is Column {
  return Object.hasOwn(SPELLINGS, name);
}

/** The report column with this name. */
export function ownColumnNamed(name: string): OwnColumn | undefined {
  const key = headerKey(name);
  return ALL_OWN.find((own) => own === key);
}

/** The accepted names of a column, for messages. */
export function spellingsOf(column: Column): string {
  return SPELLINGS[column].join(', ');
}

/** The header name that the operator assigned to each meaning. An empty name assigns no column. */
export type ColumnMap = ReadonlyMap<Column, string>;

/**
 * Reads the `--map tokens=Punkte` options. `--map op=` assigns no column to op. The column's name may itself contain
 * a `=`.
 */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  const map = new Map<Column, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const meaning = text.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const header = text.slice(at + 1).trim();
    const isNeeded = meaning === 'member' || meaning === 'tokens';
    if (at === -1 || !isColumn(meaning) || (header === '' && isNeeded))
      throw new AlmonerError(
        'ALM_CLI_USAGE',
        `--map ${JSON.stringify(text)}: expected MEANING=COLUMN with one of ${COLUMNS.join(', ')} before the "=". An empty name after it assigns no column; member and tokens need one.`,
      );
    if (map.has(meaning)) throw new AlmonerError('ALM_CLI_USAGE', `--map names ${meaning} twice.`);
    if (header !== '' && [...map.values()].some((other) => headerKey(other) === headerKey(header)))
      throw new AlmonerError('ALM_CLI_USAGE', `--map gives the column ${header} two meanings.`);
    map.set(meaning, header);
  }
  return map;
}
