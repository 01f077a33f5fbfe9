import type { Logger } from 'pino';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { NOTICE_EVENTS } from '../../core/notice-events.js';
import { notes, type ScriptClient } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import type { Delivery } from '../api/index.js';
import type { Sent, Target } from './target.js';

/**
 * Letters to the outside, kept in the store until they have left: a receiver that is away loses none, and a desk that is
 * killed sends what it had not sent. Each goes at least once, under one id. What became of them can be looked at, and each
 * can be sent again.
 */
const letter = z.object({
  id: z.string(),
  target: z.string(),
  event: z.enum(NOTICE_EVENTS),
  realm: z.string().nullable(),
  batch: z.string().nullable(),
  message: z.string(),
  thread: z.string().nullable(),
  body: z.string(),
  at: z.number(),
  state: z.enum(['waiting', 'delivered', 'given-up']),
  tries: z.number(),
  triedAt: z.number().nullable(),
  nextAt: z.number().nullable(),
  status: z.number().nullable(),
  why: z.string().nullable(),
});
export type Letter = z.infer<typeof letter>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** After each failed try; together a day. */
export const RETRY_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  20 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
] as const;
/** Nobody else tries meanwhile; longer than an answer takes. */
const CLAIM_MS = 30 * SECOND_MS;
const AT_ONCE = 16;
const ENDED_KEPT_MAX = 2_000;
/** The receiver said for good that it is no more. */
const GONE = 410;

/** Another desk may know it, or the next configuration. */
const NOBODY: Sent = {
  ok: false,
  status: null,
  body: '',
  retryAfterMs: 0,
  why: 'the configuration does not name it',
};

type Fresh = Pick<
  Letter,
  'id' | 'target' | 'event' | 'realm' | 'batch' | 'message' | 'thread' | 'body' | 'at'
>;

export type OutboxOptions = {
  readonly targets: readonly Target[];
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly now?: () => number;
};

export class Outbox {
  private readonly notes: notes.OutboxNotes;
  private readonly now: () => number;

  constructor(
    scripts: ScriptClient,
    private readonly options: OutboxOptions,
  ) {
    this.notes = new notes.OutboxNotes(scripts);
    this.now = options.now ?? Date.now;
  }

  /** Put again under the same id, it is left as it is. `delivered`: it has left already, for the record. */
  async put(fresh: Fresh, delivered = false): Promise<void> {
    const nextAt = delivered ? null : this.now();
    const rest = {
      tries: delivered ? 1 : 0,
      triedAt: delivered ? this.now() : null,
      status: null,
      why: null,
    };
    const whole: Letter = { ...fresh, state: delivered ? 'delivered' : 'waiting', ...rest, nextAt };
    await this.notes.put(fresh.id, JSON.stringify(whole), fresh.at, nextAt);
  }

  /** Sends what is due, each on its own: one that is refused holds up no other. */
  async drain(): Promise<void> {
    const due = await this.notes.due(this.now(), AT_ONCE);
    await Promise.all(
      due.map(async ({ id, dueMs }) => {
        if (await this.notes.claim(id, dueMs, this.now() + CLAIM_MS)) await this.attempt(id);
      }),
    );
  }

  /** Once more, under the same id, whatever became of it. */
  async replay(id: string): Promise<Delivery> {
    const known = await this.read(id);
    const again: Letter = { ...known, state: 'waiting', tries: 0, nextAt: this.now() };
    await this.write(again);
    return deliveryOf(again);
  }

  async page(from: number, limit: number): Promise<{ deliveries: Delivery[]; next: string | null }> {
    const found = await this.notes.page(from, limit + 1);
    const deliveries = found.slice(0, limit).map((text) => deliveryOf(letter.parse(JSON.parse(text))));
    return { deliveries, next: found.length > limit ? String(from + limit) : null };
  }

  waiting(): Promise<number> {
    return this.notes.waiting();
  }

  private async attempt(id: string): Promise<void> {
    const known = await this.read(id);
    const target = this.options.targets.find(({ name }) => name === known.target);
    const sent = target === undefined ? NOBODY : await target.send(known, this.options.stop);
    // A stopped desk has not failed: the letter is due again when the claim is over.
    if (!sent.ok && this.options.stop.aborted) return;
    const after = this.afterTry(known, sent);
    await this.write(after);
    if (after.state === 'given-up')
      this.options.logger.warn(
        { id, target: known.target, event: known.event, status: sent.status },
        'a notice was given up: it can be sent again from the desk',
      );
  }

  private afterTry(known: Letter, { ok, status, why, retryAfterMs }: Sent): Letter {
    const tries = known.tries + 1;
    const waitMs = status === GONE ? undefined : RETRY_MS[tries - 1];
    const tried = { ...known, tries, triedAt: this.now(), status, why };
    if (ok) return { ...tried, state: 'delivered', nextAt: null };
    if (waitMs === undefined) return { ...tried, state: 'given-up', nextAt: null };
    return { ...tried, nextAt: this.now() + Math.max(waitMs, retryAfterMs) };
  }

  private async read(id: string): Promise<Letter> {
    const text = await this.notes.get(id);
    if (text !== null) return letter.parse(JSON.parse(text));
    throw new AlmonerError('ALM_DESK_NOT_FOUND', `No notice is called ${JSON.stringify(id)}.`);
  }

  private async write(known: Letter): Promise<void> {
    await this.notes.write(known.id, JSON.stringify(known), {
      dueMs: known.nextAt,
      nowMs: this.now(),
      keepMax: ENDED_KEPT_MAX,
    });
  }
}

function deliveryOf({ body: _, thread: __, ...known }: Letter): Delivery {
  const { at, triedAt, nextAt } = known;
  return { ...known, at: isoTime(at), triedAt: isoTime(triedAt), nextAt: isoTime(nextAt) };
}
