import { z } from 'zod';
import { notes, type ScriptClient } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { counted, isoTime } from '../../words/spelling.js';
import { idOf, type OrderPlace, sharedContexts } from '../orders/find-orders.js';
import { RANKS, type Rank } from './tokens.js';
import { whoActs } from './who.js';

/**
 * Who changed what, when and why. The operation that changes something writes the line, so that the same change leaves the
 * same line through the command line, the desk and the library. A change to a batch also stands in the batch's own log,
 * which reports carry. The desk adds what only happens there: signing in and out, uploads, wrong tokens.
 */
export type Deed = {
  readonly what: string;
  readonly why: string | null;
  /** The batches it was about. */
  readonly batches?: readonly string[];
  /** How many orders it was about, and their sum. */
  readonly orders?: number;
  readonly tokens?: bigint | string;
};

/** One line for one change, in the name of the person who acts. A token that was revoked meanwhile stops no line. */
export async function record(app: App, deed: Deed): Promise<void> {
  await recordIn(app.scripts, await nameOf(app).catch(() => app.config.operator), deed);
}

/** Who acts: the owner of the token, else the name that is configured. */
export async function nameOf(app: App): Promise<string> {
  return (await whoActs(app))?.name ?? app.config.operator;
}

/** The same where the operation is told who acts. */
export function recordIn(scripts: ScriptClient, who: string, deed: Deed): Promise<void> {
  return new AuditTrail(scripts).write({ who, ...lineOf(deed) }, 'operator');
}

/** What a person did to single orders; `what` says it of their names, or of their number where they are many. */
export async function recordOrders(
  scripts: ScriptClient,
  { who, why }: { readonly who: string; readonly why: string | null },
  places: readonly OrderPlace[],
  what: (which: string) => string,
): Promise<void> {
  if (places.length === 0) return;
  const contextOf = sharedContexts();
  let tokens = 0n;
  for (const { ref, index } of places) {
    const { order } = await (await contextOf(ref)).plans.row(ref.no, index);
    tokens += BigInt(order?.tokens ?? 0);
  }
  const batches = [...new Set(places.map(({ ref }) => ref.id))];
  await recordIn(scripts, who, { what: what(namesOf(places)), why, batches, orders: places.length, tokens });
}

const ORDERS_NAMED_MAX = 5;

export function namesOf(places: readonly OrderPlace[]): string {
  return places.length <= ORDERS_NAMED_MAX ? places.map(idOf).join(', ') : counted(places.length, 'order');
}

const BATCHES_NAMED_MAX = 5;

/** The column names one batch; of several, `what` names the first few. */
function lineOf({ what, why, batches = [], orders, tokens }: Deed) {
  const [batch = null] = batches;
  const more = batches.length - BATCHES_NAMED_MAX;
  const named = `${batches.slice(0, BATCHES_NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return {
    what: batches.length > 1 ? `${what}, in batches ${named}` : what,
    why,
    batch,
    orders: orders ?? null,
    tokens: tokens === undefined ? null : String(tokens),
  };
}

/** Each rank has a list: the one of operators is kept whole, and viewers and strangers push nothing out of it. */
const KEEP_MAX = 100_000;
const CHANGES_NOTHING: readonly Rank[] = ['anyone', 'viewer'];
/** A page of a seldom match ends after so many lines, and the next goes on: a whole year is not read at once. */
const LOOKED_AT_MAX = 5_000;
const READ_AT_ONCE = 500;

// Not strict: a later version may have written more, and an earlier one less.
const entry = z.object({
  at: z.number(),
  who: z.string(),
  what: z.string(),
  why: z.string().nullable(),
  batch: z.string().nullable(),
  orders: z.number().nullable().default(null),
  tokens: z.string().nullable().default(null),
});
type Entry = z.infer<typeof entry>;
type Line = Omit<z.input<typeof entry>, 'at'>;
type Shown = Omit<Entry, 'at'> & { readonly at: string };
type Page = { readonly entries: Shown[]; readonly next: string | null };
type Filter = { readonly [part in 'text' | 'who' | 'from' | 'to']?: string | undefined };

export class AuditTrail {
  constructor(
    private readonly scripts: ScriptClient,
    private readonly keepMax = KEEP_MAX,
  ) {}

  async write(what: Line, by: Rank): Promise<void> {
    const line = JSON.stringify({ at: Date.now(), ...what });
    await notes.deskAudit.append(this.scripts, by, line, CHANGES_NOTHING.includes(by) ? this.keepMax : null);
  }

  /** Newest first. The cursor counts from the oldest end of each list, so that new entries do not shift the pages. */
  async page(cursor: string | undefined, limit: number, filter: Filter): Promise<Page> {
    const befores = cursor?.split('.').map(Number) ?? [];
    const ranks = await Promise.all(RANKS.map((rank, at) => this.rank(rank, befores[at])));
    const entries: Entry[] = [];
    for (let seen = 0; entries.length < limit && seen < LOOKED_AT_MAX; seen++) {
      for (const rank of ranks) await this.fill(rank);
      const [newest] = ranks
        .filter(({ lines }) => lines.length > 0)
        .sort((one, other) => (other.lines[0]?.at ?? 0) - (one.lines[0]?.at ?? 0));
      const next = newest?.lines.shift();
      if (newest === undefined || next === undefined) break;
      newest.before -= 1;
      if (fits(next, filter)) entries.push(next);
    }
    return {
      entries: entries.map((one) => ({ ...one, at: isoTime(one.at) })),
      next: ranks.some(({ before }) => before > 0) ? ranks.map(({ before }) => before).join('.') : null,
    };
  }

  /** All of it that fits, however long, newest first. */
  async *csv(filter: Filter): AsyncGenerator<string> {
    // Loaded here: every command that changes something would load it too.
    const { csvLine } = await import('../../report/csv-files.js');
    yield csvLine(['at', 'who', 'what', 'why', 'batch', 'orders', 'tokens'], ',');
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Page = await this.page(cursor, LOOKED_AT_MAX, filter);
      for (const { at, who, what, why, batch, orders, tokens } of page.entries)
        yield csvLine([at, who, what, why, batch, orders, tokens], ',');
      cursor = page.next;
    }
  }

  private async rank(rank: Rank, given: number | undefined) {
    const { before, lines } = await this.read(rank, given);
    return { rank, before, lines };
  }

  private async fill(known: { readonly rank: Rank; before: number; lines: Entry[] }): Promise<void> {
    if (known.lines.length > 0 || known.before === 0) return;
    ({ before: known.before, lines: known.lines } = await this.read(known.rank, known.before));
  }

  private async read(rank: Rank, given: number | undefined) {
    const { before, lines } = await notes.deskAudit.read(this.scripts, rank, given, READ_AT_ONCE);
    return { before, lines: lines.map((line) => entry.parse(JSON.parse(line))) };
  }
}

/** Days are of UTC, as everywhere; both ends belong to it. */
function fits({ at, who, what, why, batch }: Entry, filter: Filter): boolean {
  const day = isoTime(at).slice(0, 10);
  if (day < (filter.from ?? '') || day > (filter.to ?? '9999')) return false;
  if (filter.who !== undefined && filter.who !== who) return false;
  const text = filter.text?.toLowerCase() ?? '';
  return text === '' || [who, what, why, batch].some((part) => part?.toLowerCase().includes(text) === true);
}
