/**
 * The fields of an order's record, in the order in which the store has them, joined by '|', in the block's hash under the
 * order's index. record.ts decodes and encodes by this table, and the scripts by the Lua that is made from it.
 * An order without a record is planned and was never sent.
 *
 * `sending` is what a field means while the order is being sent, where that differs; null is a field that is empty then.
 */
const RECORD_FIELDS = [
  /**
   * One character: w waiting for its next attempt (shown as planned), s sending, P paid, R refused, X exhausted,
   * u unknown, D doubt, d duplicate, i invalid, c cancelled.
   */
  { name: 'state' },
  /**
   * The number in the order's key, which grows only after a definite no from the realm, and, where that is not `sent`,
   * '@' and when the key was first used: its life counts from then.
   */
  { name: 'key' },
  { name: 'attempts' },
  /** Attempts used up since the order was planned or last retried by a person. */
  { name: 'tries' },
  /** The last answer's HTTP status; the session that is sending the order. */
  { name: 'status', sending: 'session' },
  /** The balance in the answer; the nonce of the attempt under way. */
  { name: 'balance', sending: 'nonce' },
  /** The store's time, in base 36, of the attempt, or of the first one whose outcome is unknown. */
  { name: 'sent' },
  /**
   * The time, in base 36, from `sent` to the settlement, or, while unknown, to the moment up to which an attempt stayed
   * unanswered. Of an unknown order that is sent again: 'u' and the `took` of before; otherwise ''.
   */
  { name: 'took', sending: 'prior' },
  /** The code of the evidence (see EVIDENCE_CODE); the status from before the attempt under way. */
  { name: 'evidence', sending: 'status' },
  /** 'd' discarded, 'r<no>.…' put into that batch, 'a<ms>' called unpaid while its request might arrive until then. */
  { name: 'marks' },
  /** The nonce of the last attempt; empty where two attempts met. A paid order keeps a mark of it (see nonceMark). */
  { name: 'nonce', sending: null },
  /**
   * The number of the order's last doubt, 'd<how many it had>-<four hex digits>', missing where it never had one. The
   * digits follow from the epoch and the sequence: a doubt that a restored store raises anew does not get the number
   * of a forgotten one.
   */
  { name: 'doubt' },
] as const satisfies readonly { readonly name: string; readonly sending?: string | null }[];

type Field = (typeof RECORD_FIELDS)[number];
export type FieldName = Field['name'] | Exclude<Extract<Field, { sending: unknown }>['sending'], null>;

/** Every record has these fields. Those behind them are written where they, or one behind them, have a value. */
export const ALWAYS_WRITTEN = 10;

/** What stands at each position while the order is being sent, and otherwise. */
const NAMES: Readonly<Record<'sending' | 'settled', readonly (FieldName | null)[]>> = {
  sending: RECORD_FIELDS.map((field) => ('sending' in field ? field.sending : field.name)),
  settled: RECORD_FIELDS.map(({ name }) => name),
};

export function namesOf(state: string): readonly (FieldName | null)[] {
  return state === 's' ? NAMES.sending : NAMES.settled;
}

/**
 * Lua's side of the table: `decodeRecord` makes a table with names of a record, `encodeRecord` a record of such a table.
 * A name that is missing among the fields that every record has is written as an empty field. While an order is being
 * sent the scripts write the empty field in the nonce's place as well.
 */
export function recordFieldsLua(): string {
  const decoded = (names: readonly (string | null)[]) =>
    names.flatMap((name, at) => (name === null ? [] : [`${name} = given[${at + 1}]`])).join(', ');
  const encoded = (names: readonly (string | null)[]) =>
    names
      .slice(0, ALWAYS_WRITTEN)
      .map((name) => (name === null ? "''" : `(fields.${name} or '')`))
      .join(" .. '|' .. ");
  return `--- Made from the table in record-fields.ts.
local function decodeRecord(record)
  local given = {}
  for field in string.gmatch(record .. '|', '([^|]*)|') do
    given[#given + 1] = field
  end
  if given[1] == 's' then
    return { ${decoded(NAMES.sending)} }
  end
  return { ${decoded(NAMES.settled)} }
end

local function encodeRecord(fields)
  if fields.state == 's' then
    return ${encoded(NAMES.sending)} .. '|' .. (fields.doubt and '|' .. fields.doubt or '')
  end
  local record = ${encoded(NAMES.settled)}
  if fields.doubt then return record .. '|' .. (fields.nonce or '') .. '|' .. fields.doubt end
  return fields.nonce and record .. '|' .. fields.nonce or record
end
`;
}
