import { crc32 } from 'node:zlib';
import { z } from 'zod';
import {
  type BatchId,
  isBatchId,
  isRecordedMemberId,
  type MemberId,
  type OrderId,
  parseOrderId,
} from '../../core/ids.js';
import { OPS, type Order } from '../../core/order.js';
import { isTokens } from '../../core/points.js';
import { CERTAINTIES } from '../../core/profile.js';
import { whereabouts } from '../here/liveness.js';

/**
 * One line of a journal: eight hex digits of CRC-32, a blank, a JSON list. What does not check is treated
 * as never written: a machine that lost power leaves a torn tail, and an intent in it was never acted on,
 * because nothing is sent before the fsync of its intent has returned.
 */

/** The first line of every file: who writes it, so that a file found alone tells whose it is. */
const head = whereabouts.extend({
  session: z.string().regex(/^[0-9a-f]{12}$/),
  kind: z.string(),
  startedAt: z.number(),
});
export type JournalHead = z.infer<typeof head>;

/**
 * What is about to be sent: the whole order and its terms, so that it can be put back where the store has forgotten its
 * batch. `seq` is the ledger's sequence as the sender saw it.
 */
const intent = z.object({
  realm: z.string(),
  batch: z.custom<BatchId>((id) => typeof id === 'string' && isBatchId(id)),
  index: z.number(),
  line: z.number(),
  op: z.enum(OPS),
  member: z.custom<MemberId>((id) => typeof id === 'string' && isRecordedMemberId(id)),
  recipient: z.custom<MemberId>((id) => typeof id === 'string' && isRecordedMemberId(id)).nullable(),
  tokens: z.number(),
  reference: z.string().nullable(),
  /** The order that it stands in for. */
  replaces: z.custom<OrderId>((id) => typeof id === 'string' && parseOrderId(id) !== undefined).nullable(),
  /** Of an undo: where the reference of the undone order is kept, and the account that order passed. */
  undoes: z.object({ shard: z.string(), fieldHex: z.string(), account: z.string() }).nullable(),
  currency: z.string().nullable(),
  certainty: z.enum(CERTAINTIES),
  keyLifetimeMs: z.number(),
  /** The label of --again that its batch was given under. */
  again: z.string().optional(),
  /** What of its row was looked up in a table of members: see lookedUp in sketch.ts. */
  lookedUp: z.tuple([z.string(), z.string()]).optional(),
  nonce: z.string(),
  keyNumber: z.number(),
  keyFirstAt: z.number(),
  attempts: z.number(),
  tries: z.number(),
  seq: z.number(),
  sentAt: z.number(),
  firstSentAt: z.number(),
  resend: z.boolean(),
  /** For how long after it was sent it may arrive, by the longest settle time of the senders. */
  settleMs: z.number(),
});
export type Intent = z.infer<typeof intent>;

export function orderOf({ op, member, recipient, tokens }: Intent): Order {
  if (!isTokens(tokens)) throw new TypeError('a journal holds an amount that is none');
  if (op !== 'transfer') return { op, member, recipient: null, tokens };
  if (recipient === null) throw new TypeError('a journaled transfer has no recipient');
  return { op, member, recipient, tokens };
}

/** What the attempt came to: the order's new record and what belongs to the move. */
const result = z.object({
  nonce: z.string(),
  record: z.string(),
  dueInMs: z.number(),
  detail: z.string(),
  requests: z.number(),
  limited: z.boolean(),
});
export type JournalResult = z.infer<typeof result>;

const line = z.union([
  z.tuple([z.literal('H'), head]).transform(([, of]) => ({ kind: 'head' as const, head: of })),
  /** From here on the session may send for this realm. */
  z.tuple([z.literal('W'), z.string()]).transform(([, realm]) => ({ kind: 'works' as const, realm })),
  z.tuple([z.literal('I'), intent]).transform(([, of]) => ({ kind: 'intent' as const, intent: of })),
  z.tuple([z.literal('R'), result]).transform(([, of]) => ({ kind: 'result' as const, result: of })),
  /** The ledger took its leave back before anything was sent. */
  z.tuple([z.literal('N'), z.string()]).transform(([, nonce]) => ({ kind: 'unsent' as const, nonce })),
  /** The last line of a file that another follows: where that one is missing, the journal is not whole. */
  z.tuple([z.literal('C'), z.number()]).transform(([, number]) => ({ kind: 'continues' as const, number })),
  /** From here on the session sends nothing for this realm, unless it says that it works for it once more. */
  z.tuple([z.literal('L'), z.string()]).transform(([, realm]) => ({ kind: 'leaves' as const, realm })),
  /** The session ended in order: it sends nothing more, wherever this line is read. */
  z.tuple([z.literal('E')]).transform(() => ({ kind: 'end' as const })),
]);
export type JournalEntry = Readonly<z.infer<typeof line>>;

export function encodeEntry(entry: JournalEntry): string {
  const json = JSON.stringify(listOf(entry));
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

function listOf(entry: JournalEntry): z.input<typeof line> {
  switch (entry.kind) {
    case 'head':
      return ['H', entry.head];
    case 'works':
      return ['W', entry.realm];
    case 'intent':
      return ['I', entry.intent];
    case 'result':
      return ['R', entry.result];
    case 'unsent':
      return ['N', entry.nonce];
    case 'continues':
      return ['C', entry.number];
    case 'leaves':
      return ['L', entry.realm];
    case 'end':
      return ['E'];
  }
}

/** Undefined for a line that is torn, damaged, or of a kind this version does not know. */
export function decodeEntry(text: string): JournalEntry | undefined {
  const json = text.slice(9);
  if (text[8] !== ' ' || Number.parseInt(text.slice(0, 8), 16) !== crc32(json)) return undefined;
  return line.safeParse(parseJson(json)).data;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
