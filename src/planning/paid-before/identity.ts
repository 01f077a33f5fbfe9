import { createHash } from 'node:crypto';
import { type BatchId, batchId } from '../../core/ids.js';
import type { RealmIdentity } from '../../core/profile.js';
import { type Finding, type OrderRow, ofFile } from '../../csv/row.js';
import { batchRef, planning, type RealmLedger, readBatch } from '../../ledger/index.js';
import { counted, utcMinute } from '../../words/spelling.js';

/**
 * Identity. The same orders, with the same references, in the same order, realm and currency, are the same
 * batch, whatever the file is called and however it is written. Reason and further columns are not part of it.
 *
 * Fields are separated by U+001F and rows by LF. No field can hold either: ids, amounts and ops cannot by
 * their grammar, references are refused with control characters in them, and the label is JSON.
 */
const BUFFER_CHARACTERS = 64 * 1024;

/** The batch's identity, row by row. Rows that are no orders are no part of it; duplicates are. */
export class BatchDigest {
  readonly #hash = createHash('sha256');
  #buffer: string;

  /**
   * `again` is the label of --again: the same orders once more, on purpose. `run` is the number of a rule's run in
   * its period.
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

  add({ order, reference, replaces }: Pick<OrderRow, 'order' | 'reference' | 'replaces'>): void {
    this.#buffer += `${order.op}\u001f${order.member}\u001f${order.recipient ?? ''}\u001f${order.tokens}\u001f${reference ?? ''}\u001f${replaces ?? ''}\n`;
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

/** Who a file is in the books: its batch's identity, and the batch where it is there already. */
type Identity = Awaited<ReturnType<typeof identify>>;

/** Null where a file was not read whole, so that nobody can say what it is. */
export type MaybeIdentity = {
  readonly [part in Exclude<keyof Identity, 'cancelled' | 'closed'>]: Identity[part] | null;
};

/**
 * The batch of these orders. With `newRowsOnly`, a file whose batch was cancelled, or recovered and then closed, is the
 * next of a row of batches, each with an identity from the first one's and its number: the new rows of the same file given again are the
 * same batch, as long as nobody cancels that one too.
 */
export async function identify(
  ledger: RealmLedger,
  file: {
    readonly content: string;
    readonly newRowsOnly: boolean;
    /** The id that a person gives it; null for the one that its orders make. */
    readonly batchId: BatchId | null;
  },
) {
  const cancelled: string[] = [];
  for (let number = 0; ; number++) {
    const content = number === 0 ? file.content : numbered(file.content, number);
    const batch = shortId(content);
    const named = file.batchId === null ? null : await planning.recovered.batch(ledger, file.batchId);
    const recovered = named ?? (await planning.recovered.batch(ledger, batch));
    const no = await planning.earlier.batchOfContent(ledger, content);
    const there = no === null || recovered !== null ? null : await existingBatch(ledger, no);
    const isSealed = there?.view != null && !there.view.recovered;
    const ids = isSealed || recovered !== null ? [] : [file.batchId, batch, there?.id ?? null];
    const closed = await firstClosed(ledger, ids);
    const existing = closed === null ? there : null;
    const isOver = existing?.view?.state === 'cancelled' || recovered?.incomplete === true;
    // One with the very id that is wanted stays in the way of every number.
    const isPassed = closed !== null && closed.id !== file.batchId;
    if (file.newRowsOnly && (isOver || isPassed)) {
      cancelled.push(existing?.no ?? recovered?.no ?? closed?.no ?? '');
      continue;
    }
    return {
      batch,
      content,
      existing,
      /** Its orders that journals know and the store had forgotten, while the rest of it is not here. */
      recovered,
      /** A recovered one in its place, which takes no more orders. */
      closed,
      /** Its own batches that were cancelled before this one, by number. */
      cancelled,
    };
  }
}

async function firstClosed(ledger: RealmLedger, ids: readonly (BatchId | null)[]) {
  for (const id of ids) {
    const closed = id === null ? null : await planning.recovered.closed(ledger, id);
    if (closed !== null) return closed;
  }
  return null;
}

/** What a person is told of a file whose batch was recovered and is closed. */
export function closedFinding(
  { id, state }: NonNullable<Awaited<ReturnType<typeof planning.recovered.closed>>>,
  wanted: BatchId | null,
  again: string | null,
) {
  const others =
    again === null
      ? `--new-rows-only${wanted === id ? ', without --batch-id or with another one,' : ''} pays the rows that it has not`
      : `to pay the others, take its orders out of the file: \`almoner report ${id}\` writes them`;
  return ofFile(
    'ALM_PLAN_LOOKS_PAID',
    `Batch ${id} of this file was recovered from journals, with the orders that they know, and is ${state} by now: the rest of the file is no part of it any more. Look at what it holds; ${others}.`,
  );
}

function numbered(content: string, number: number): string {
  return createHash('sha256').update(`almoner new rows ${number} of ${content}`).digest('hex');
}

/** Its view is null while its import was never finished. */
async function existingBatch(ledger: RealmLedger, no: string) {
  const ref = await batchRef(ledger, no);
  return { no, id: ref.id, view: (await readBatch(ref)) ?? null };
}

const maybe = (message: string) => ofFile('ALM_PLAN_MAYBE_FORGOTTEN', message);

/**
 * A batch that may have been paid, whole or in part, without anybody knowing: a person has accepted that the store forgot
 * more than the journals know.
 */
export async function maybeForgotten(
  ledger: RealmLedger,
  recovered: Pick<planning.RecoveredBatch, 'id' | 'incomplete' | 'rows'> | null,
  /** Whether it can have been paid before that moment. */
  mayPrecede: (moment: number) => boolean,
  now: number,
): Promise<Finding | null> {
  if (recovered?.incomplete === true)
    return maybe(
      `Batch ${recovered.id} of this file holds ${counted(recovered.rows.size, 'order')} that journals knew. A person accepted that more of it may have been paid, and almoner does not know which of the other rows were.`,
    );
  const at = await planning.recovered.lossAcceptedAt(ledger);
  if (recovered !== null || at === null || now - at > planning.earlier.lookBackMs || !mayPrecede(at))
    return null;
  return maybe(
    `On ${utcMinute(at)} a person accepted that some payments are no longer known. This file may already be paid.`,
  );
}
