import type { Logger } from 'pino';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { NOTICE_EVENTS } from '../../core/notice-events.js';
import { notes, type ScriptClient } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import type { Delivery } from '../api/index.js';
import type { Sent, Target } from './target.js';

/**
 * Messages to targets, kept in the store until they are delivered. A target that is away loses none, and the next
 * desk sends what a killed one did not. Each message is delivered at least once, always under the same id. The page
 * of notices lists them and can send each again.
 */
const storedMessage = z.object({
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
export type OutboxMessage = z.infer<typeof storedMessage>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The waits after each failed try; a day in all. */
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
/** Longer than a reply may take. No other desk tries the message meanwhile. */
const CLAIM_MS = 30 * SECOND_MS;
const AT_ONCE = 16;
const ENDED_KEPT_MAX = 2_000;
/** 410 Gone: the target has ceased to exist. */
const GONE = 410;

/** The result for a target that this desk does not know. Another desk may, or the next configuration. */
const UNKNOWN_TARGET: Sent = {
  ok: false,
  status: null,
  body: '',
  retryAfterMs: 0,
  why: 'the configuration does not name it',
};

type Fresh = Pick<
  OutboxMessage,
  'id' | 'target' | 'event' | 'realm' | 'batch' | 'message' | 'thread' | 'body' | 'at'
>;

export type OutboxOptions = {
  readonly targets: readonly Target[];
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly now?: () => number;
};

/** The messages that wait for delivery, and the latest delivered ones. */
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

  /** Adds a message. A message under a known id is left unchanged. `delivered` records one that was sent already. */
  async put(fresh: Fresh, delivered = false): Promise<void> {
    const nextAt = delivered ? null : this.now();
    const rest = {
      tries: delivered ? 1 : 0,
      triedAt: delivered ? this.now() : null,
      status: null,
      why: null,
    };
    const whole: OutboxMessage = { ...fresh, state: delivered ? 'delivered' : 'waiting', ...rest, nextAt };
    await this.notes.put(fresh.id, JSON.stringify(whole), fresh.at, nextAt);
  }

  /** Sends every message that is due. One that fails does not delay the others. */
  async drain(): Promise<void> {
    const due = await this.notes.due(this.now(), AT_ONCE);
    await Promise.all(
      due.map(async ({ id, dueMs }) => {
        if (await this.notes.claim(id, dueMs, this.now() + CLAIM_MS)) await this.attempt(id);
      }),
    );
  }

  /** Sends a message once more under the same id, in any state. */
  async replay(id: string): Promise<Delivery> {
    const known = await this.read(id);
    const again: OutboxMessage = { ...known, state: 'waiting', tries: 0, nextAt: this.now() };
    await this.write(again);
    return deliveryOf(again);
  }

  async page(from: number, limit: number): Promise<{ deliveries: Delivery[]; next: string | null }> {
    const found = await this.notes.page(from, limit + 1);
    const deliveries = found.slice(0, limit).map((text) => deliveryOf(storedMessage.parse(JSON.parse(text))));
    return { deliveries, next: found.length > limit ? String(from + limit) : null };
  }

  waiting(): Promise<number> {
    return this.notes.waiting();
  }

  private async attempt(id: string): Promise<void> {
    const known = await this.read(id);
    const target = this.options.targets.find(({ name }) => name === known.target);
    const sent = target === undefined ? UNKNOWN_TARGET : await target.send(known, this.options.stop);
    // A stop of the desk is no failed try. The message is due again when the claim ends.
    if (!sent.ok && this.options.stop.aborted) return;
    const after = this.afterTry(known, sent);
    await this.write(after);
    if (after.state === 'given-up')
      this.options.logger.warn(
        { id, target: known.target, event: known.event, status: sent.status },
        'a notice was given up: it can be sent again from the desk',
      );
  }

  /** The message after a try: delivered, due again later, or given up. */
  private afterTry(known: OutboxMessage, { ok, status, why, retryAfterMs }: Sent): OutboxMessage {
    const tries = known.tries + 1;
    const waitMs = status === GONE ? undefined : RETRY_MS[tries - 1];
    const tried = { ...known, tries, triedAt: this.now(), status, why };
    if (ok) return { ...tried, state: 'delivered', nextAt: null };
    if (waitMs === undefined) return { ...tried, state: 'given-up', nextAt: null };
    return { ...tried, nextAt: this.now() + Math.max(waitMs, retryAfterMs) };
  }

  private async read(id: string): Promise<OutboxMessage> {
    const text = await this.notes.get(id);
    if (text !== null) return storedMessage.parse(JSON.parse(text));
    throw new AlmonerError('ALM_DESK_NOT_FOUND', `No notice is called ${JSON.stringify(id)}.`);
  }

  private async write(known: OutboxMessage): Promise<void> {
    await this.notes.write(known.id, JSON.stringify(known), {
      dueMs: known.nextAt,
      nowMs: this.now(),
      keepMax: ENDED_KEPT_MAX,
    });
  }
}

function deliveryOf({ body: _, thread: __, ...known }: OutboxMessage): Delivery {
  const { at, triedAt, nextAt } = known;
  return { ...known, at: isoTime(at), triedAt: isoTime(triedAt), nextAt: isoTime(nextAt) };
}
