import { createHash } from 'node:crypto';
import { type BatchId, batchId } from '../core/ids.js';
import type { RealmIdentity } from '../core/profile.js';
import { type Finding, type OrderRow, ofFile } from '../csv/row.js';
import {
  batchOfContent,
  batchRef,
  hasParked,
  LOOK_BACK_MS,
  lossAcceptedAt,
  parkedBatches,
  type RealmLedger,
  readBatch,
  sealedManifest,
} from '../ledger/index.js';
import { utcMinute } from '../words/spelling.js';

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
  readonly [part in Exclude<keyof Identity, 'cancelled'>]: Identity[part] | null;
};

/** Which of the batches of its file it is: the file's own content, and how many were cancelled before it. */
type Link = { readonly file: string; readonly number: number };

/**
 * The batch of these orders. With `newRowsOnly`, a file whose batch was cancelled is the next of a row of batches,
 * each with an identity from the first one's and its number: the new rows of the same file given again are the
 * same batch, as long as nobody cancels that one too.
 */
export async function identify(
  ledger: RealmLedger,
  file: { content: string; former: string | null; currency: string | null; newRowsOnly: boolean },
) {
  const { former, currency } = file;
  const cancelled: string[] = [];
  for (let number = 0; ; number++) {
    const content = number === 0 ? file.content : numbered(file.content, number);
    const no =
      (await batchOfContent(ledger, content)) ??
      (former === null || number > 0 ? null : await formerBatch(ledger, former, currency));
    const existing = no === null ? null : await existingBatch(ledger, no);
    if (file.newRowsOnly && existing?.view?.state === 'cancelled') {
      cancelled.push(existing.no);
      continue;
    }
    return {
      batch: shortId(content),
      content,
      /** The identity that 0.1.0 gave these orders, which left the currency out; null where it is the same. */
      former: number === 0 ? former : null,
      existing,
      link: { file: file.content, number },
      /** Its own batches that were cancelled before this one, by number. */
      cancelled,
    };
  }
}

function numbered(content: string, number: number): string {
  return createHash('sha256').update(`almoner new rows ${number} of ${content}`).digest('hex');
}

/** Its view is null while its import was never finished. */
async function existingBatch(ledger: RealmLedger, no: string) {
  const ref = await batchRef(ledger, no);
  return { no, id: ref.id, view: (await readBatch(ref)) ?? null };
}

/** The same orders as 0.1.0 knew them; in another currency they are other orders. As in moves/open-batch.lua. */
async function formerBatch(
  ledger: RealmLedger,
  content: string,
  currency: string | null,
): Promise<string | null> {
  const no = await batchOfContent(ledger, content);
  if (no === null) return null;
  const manifest = await sealedManifest(ledger, no);
  return manifest !== null && manifest.currency === currency ? no : null;
}

const maybe = (message: string) => ofFile('ALM_PLAN_MAYBE_FORGOTTEN', message);

/** Nobody cancels more batches of one file. */
const LINKS_MAX = 1_000;

/**
 * Journals know payments of a later batch of the same file: this one was cancelled, perhaps others after it, and only
 * the store knew that. A link of which nothing was sent left nothing in any journal, so all that may follow are asked.
 */
async function followed(ledger: RealmLedger, { file, number }: Link): Promise<BatchId | null> {
  const parked = await parkedBatches(ledger);
  if (parked.size === 0) return null;
  for (let later = number + 1; later <= number + LINKS_MAX; later++) {
    const id = shortId(numbered(file, later));
    if (parked.has(id)) return id;
  }
  return null;
}

/** A batch that is not over, in a store that has forgotten that it was cancelled. */
export async function cancelForgotten(
  ledger: RealmLedger,
  identity: Identity | null,
): Promise<Finding | null> {
  const { id, view } = identity?.existing ?? { id: null, view: null };
  if (identity === null || view === null || view.state === 'done' || view.state === 'cancelled') return null;
  const following = await followed(ledger, identity.link);
  if (following === null) return null;
  return maybe(
    `The store has forgotten that batch ${id} was cancelled and that its new rows were paid after that: journals know payments of batch ${following}. To go on with it would pay them again. Cancel it once more (almoner cancel ${id}), then --new-rows-only puts those payments back and pays the rest.`,
  );
}

/**
 * A batch that the store has forgotten and that may have been paid whole before. What the journals know a part of
 * is put right when it is imported (see ledger/parked), with two exceptions: somebody has accepted that the store
 * forgot more than the journals know; or they know payments of a later batch of its file.
 */
export async function maybeForgotten(
  ledger: RealmLedger,
  { batch, link, former }: Pick<MaybeIdentity, 'batch' | 'link' | 'former'>,
  /** Whether it can have been paid before that moment. */
  mayPrecede: (moment: number) => boolean,
  now: number,
): Promise<Finding | null> {
  if (batch === null || link === null) return null;
  const following = await followed(ledger, link);
  if (following !== null)
    return maybe(
      `The store has forgotten that this file was a batch which was cancelled, and that its new rows were paid after that: journals know payments of batch ${following}. Nothing here can tell which rows are unpaid.`,
    );
  const at = await lossAcceptedAt(ledger);
  if (at === null || now - at > LOOK_BACK_MS || !mayPrecede(at)) return null;
  for (const id of former === null ? [batch] : [batch, shortId(former)])
    if (await hasParked(ledger, id)) return null;
  return maybe(
    `On ${utcMinute(at)} it was accepted that the store had forgotten payments which no journal knows. This file may be among them: nothing here can tell whether it was paid before.`,
  );
}
