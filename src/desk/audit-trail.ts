import { z } from 'zod';
import { appendDeskAudit, readDeskAudit, type ScriptClient } from '../ledger/index.js';
import { RANKS, type Rank } from '../operations/people/tokens.js';
import { isoTime } from '../words/spelling.js';
import { AuditPage, type AuditQuery } from './api/overview.js';

/**
 * Who did what at the desk, when and why: every change, signing in and out and wrong tokens included. What touches a
 * batch stands in the batch's own audit as well, which reports carry. It is a list for each rank: what operators did is
 * kept whole, and what viewers and strangers do, which is bounded, pushes none of it out.
 */
const KEEP_MAX = 100_000;
const CHANGES_NOTHING: readonly Rank[] = ['anyone', 'viewer'];
/** A page of a seldom match ends after so many lines, and the next goes on: nobody waits for a whole year at once. */
const LOOKED_AT_MAX = 5_000;
const READ_AT_ONCE = 500;

// Not strict: a later version may have written more, and an earlier one less.
const { element } = AuditPage.shape.entries;
const entry = z.object({
  ...element.shape,
  at: z.number(),
  orders: element.shape.orders.default(null),
  tokens: element.shape.tokens.default(null),
});
type Entry = z.infer<typeof entry>;
export type DeskAuditEntry = Omit<z.input<typeof entry>, 'at'>;
export type AuditFilter = Pick<z.infer<typeof AuditQuery>, 'text' | 'who' | 'from' | 'to'>;

export class AuditTrail {
  constructor(
    private readonly scripts: ScriptClient,
    private readonly keepMax = KEEP_MAX,
  ) {}

  async write(what: DeskAuditEntry, by: Rank): Promise<void> {
    const line = JSON.stringify({ at: Date.now(), ...what });
    await appendDeskAudit(this.scripts, by, line, CHANGES_NOTHING.includes(by) ? this.keepMax : null);
  }

  /** Newest first. The cursor counts from the oldest end of each list, so that new entries do not shift the pages. */
  async page(cursor: string | undefined, limit: number, filter: AuditFilter): Promise<AuditPage> {
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
  async *csv(filter: AuditFilter): AsyncGenerator<string> {
    // Loaded for whoever exports: every command that only needs the desk's tokens would load it too.
    const { csvLine } = await import('../report/csv-files.js');
    yield csvLine(['at', 'who', 'what', 'why', 'batch', 'orders', 'tokens'], ',');
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: AuditPage = await this.page(cursor, LOOKED_AT_MAX, filter);
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
    const { before, lines } = await readDeskAudit(this.scripts, rank, given, READ_AT_ONCE);
    return { before, lines: lines.map((line) => entry.parse(JSON.parse(line))) };
  }
}

/** Days are of UTC, as everywhere; both ends belong to it. */
function fits({ at, who, what, why, batch }: Entry, filter: AuditFilter): boolean {
  const day = isoTime(at).slice(0, 10);
  if (day < (filter.from ?? '') || day > (filter.to ?? '9999')) return false;
  if (filter.who !== undefined && filter.who !== who) return false;
  const text = filter.text?.toLowerCase() ?? '';
  return text === '' || [who, what, why, batch].some((part) => part?.toLowerCase().includes(text) === true);
}
