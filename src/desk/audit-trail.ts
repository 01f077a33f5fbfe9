import { z } from 'zod';
import { appendDeskAudit, readDeskAudit, type ScriptClient } from '../ledger/index.js';
import { isoTime } from '../words/spelling.js';
import { AuditPage } from './api/overview.js';
import { ACCESSES, type Access } from './http/access/tokens.js';

/**
 * Who did what at the desk, when and why: every change, signing in and out included. What touches a batch
 * stands in the batch's own audit as well, which reports carry; this one covers the rest and is bounded. It is
 * a list for each rank, so that nothing that viewers or strangers do pushes out what operators did.
 */
const KEEP_MAX = 10_000;

// Not strict: a later version may have written more.
const entry = z.object({ ...AuditPage.shape.entries.element.shape, at: z.number() });
export type DeskAuditEntry = z.infer<typeof entry>;

export class AuditTrail {
  constructor(private readonly scripts: ScriptClient) {}

  async write(what: Omit<DeskAuditEntry, 'at'>, by: Access): Promise<void> {
    await appendDeskAudit(this.scripts, by, JSON.stringify({ at: Date.now(), ...what }), KEEP_MAX);
  }

  /** Newest first. The cursor counts from the oldest end of each list, so that new entries do not shift the pages. */
  async page(cursor: string | undefined, limit: number): Promise<AuditPage> {
    const befores = cursor?.split('.').map(Number) ?? [];
    const parts = await Promise.all(ACCESSES.map((rank, at) => this.part(rank, befores[at], limit)));
    const entries: DeskAuditEntry[] = [];
    while (entries.length < limit) {
      const [newest] = parts
        .filter(({ lines }) => lines.length > 0)
        .sort((one, other) => (other.lines[0]?.at ?? 0) - (one.lines[0]?.at ?? 0));
      const next = newest?.lines.shift();
      if (newest === undefined || next === undefined) break;
      newest.before -= 1;
      entries.push(next);
    }
    return {
      entries: entries.map((one) => ({ ...one, at: isoTime(one.at) })),
      next: parts.some(({ before }) => before > 0) ? parts.map(({ before }) => before).join('.') : null,
    };
  }

  private async part(rank: Access, given: number | undefined, limit: number) {
    const { before, lines } = await readDeskAudit(this.scripts, rank, given, limit);
    return { before, lines: lines.map((line) => entry.parse(JSON.parse(line))) };
  }
}
