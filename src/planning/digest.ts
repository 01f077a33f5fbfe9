import { createHash, hash } from 'node:crypto';
import { type BatchId, batchId } from '../core/ids.js';
import type { RealmIdentity } from '../core/profile.js';
import type { OrderRow } from '../csv/row.js';

/**
 * Identity. The same orders, with the same references, in the same order, realm and currency, are the same
 * batch, whatever the file is called and however it is written. Reason and further columns are not part of it.
 *
 * Fields are separated by U+001F and rows by LF. No field can hold either: ids, amounts and ops cannot by
 * their grammar, references are refused with control characters in them, and the label is JSON.
 */
type Identified = Pick<OrderRow, 'order' | 'reference' | 'replaces'>;

const BUFFER_CHARACTERS = 64 * 1024;

function rowText(row: Identified): string {
  const { order } = row;
  return `${order.op}\u001f${order.member}\u001f${order.recipient ?? ''}\u001f${order.tokens}\u001f${row.reference ?? ''}\u001f${row.replaces ?? ''}\n`;
}

/** SHA-256, in hex, of everything that makes one row what it is. */
export function rowDigest(row: Identified): string {
  return hash('sha256', rowText(row), 'hex');
}

/** The batch's identity, row by row. Rows that are no orders are no part of it; duplicates are. */
export class BatchDigest {
  readonly #hash = createHash('sha256');
  #buffer: string;

  /**
   * `again` is the label of --again: the same orders once more, on purpose. Without a currency of its own a
   * batch is what it was before the currency was part of it. `run` is the number of a rule's run in its period.
   */
  constructor(
    { baseUrl, realmId }: RealmIdentity,
    again: string | null,
    currency: string | null,
    run: number | null = null,
  ) {
    const own = [...(currency === null ? [] : [currency]), ...(run === null ? [] : [{ run }])];
    const realm = [baseUrl, realmId, again, ...own];
    this.#buffer = `almoner batch 1 ${JSON.stringify(realm)}\n`;
  }

  add(row: Identified): void {
    this.#buffer += rowText(row);
    if (this.#buffer.length > BUFFER_CHARACTERS) this.#flush();
  }

  /** Ends the digest: 64 hex digits. */
  hex(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#buffer);
    this.#buffer = '';
  }
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LETTERS = 12;

/** Whether an id can have come from the orders; a name that a person gave seldom looks so. */
export function isShortId(id: string): boolean {
  return id.length === ID_LETTERS && [...id].every((letter) => ALPHABET.includes(letter));
}

/** Sixty bits of the content's hash in letters that are hard to misread. */
export function shortId(content: string): BatchId {
  const bits = BigInt(`0x${content.slice(0, 16)}`) >> 4n;
  const letters = Array.from(
    { length: ID_LETTERS },
    (_, i) => ALPHABET[Number((bits >> BigInt(5 * (ID_LETTERS - 1 - i))) & 31n)],
  );
  return batchId(letters.join(''));
}
