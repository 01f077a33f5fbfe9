import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { lostSessions } from '../../core/waiting.js';
import type { BatchSummary } from '../api/index.js';

/** Something a community wants to be told about one of its batches. */
export type NoticeEvent = 'finished' | 'halted' | 'doubt' | 'missing-session' | 'progress';

export type Notice = {
  readonly event: NoticeEvent;
  readonly at: string;
  readonly batch: BatchSummary;
  /** The batch's page, where the desk has an address people can reach. */
  readonly link: string | null;
};

/** Somewhere notices go. It never throws: what could not be told is logged and dropped. */
export type Target = {
  readonly wants: readonly NoticeEvent[];
  send(notice: Notice): Promise<void>;
};

/**
 * What was last told of a batch, kept in the store: a restarted desk neither repeats nor forgets. `lost` are the
 * sending processes that were said to be lost, joined by blanks.
 */
export const storedTold = z.object({ state: z.string(), doubts: z.number(), lost: z.string().default('') });
export type Told = z.infer<typeof storedTold>;

/** A killed process is no news at first: it is taken over within seconds where anybody is there to do it. */
const LOST_AFTER_MS = 45_000;

/** What would be told of a batch as of now. */
export function toldOf(batch: Pick<BatchSummary, 'state' | 'counts' | 'waiting'>, nowMs: number): Told {
  const lost = batch.waiting.filter(({ since }) => nowMs - Date.parse(since) >= LOST_AFTER_MS);
  return {
    state: batch.state,
    doubts: batch.counts.doubt ?? 0,
    lost: lostSessions(lost).sort().join(' '),
  };
}

/** What is new about a batch since it was last told of. */
export function eventsFor(batch: Told, told: Told | null): NoticeEvent[] {
  const events: NoticeEvent[] = [];
  const isNew = told?.state !== batch.state;
  if (batch.doubts > (told?.doubts ?? 0)) events.push('doubt');
  if (batch.lost !== '' && batch.lost !== told?.lost) events.push('missing-session');
  if (isNew && batch.state === 'halted') events.push('halted');
  if (isNew && (batch.state === 'done' || batch.state === 'cancelled')) events.push('finished');
  if (events.length === 0 && (isNew || batch.state === 'running')) events.push('progress');
  return events;
}

/** The realm is part of the key, because an id given with --batch-id may stand in two realms. */
export function keyOf({ realm, batch }: { readonly realm: string; readonly batch: string }): string {
  return `${realm}/${batch}`;
}

/**
 * One HTTP request that is tried a few times. Notices are about money but move none: telling twice is
 * harmless, so that any failure but a plain refusal is tried again. Redirects are not followed, because the
 * address is a secret.
 */
type Delivery = {
  readonly method: 'POST' | 'PATCH';
  readonly url: string;
  readonly headers: () => Readonly<Record<string, string>>;
  readonly body: string;
};

type Delivered =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly status: number | null };

/** What both kinds of target are given. */
export type TargetOptions = {
  readonly realm: string;
  readonly logger: Logger;
  readonly tries: DeliverOptions;
};

export type DeliverOptions = {
  readonly attempts: number;
  readonly backoffMs: number;
  readonly stop: AbortSignal;
};

export const DELIVERY_TRIES = { attempts: 5, backoffMs: 1_000 } as const;
const ANSWER_MS = 10_000;
const WAIT_MAX_MS = 60_000;
const BODY_CHARACTERS_MAX = 64 * 1024;

export async function deliver(delivery: Delivery, options: DeliverOptions): Promise<Delivered> {
  let status: number | null = null;
  for (let attempt = 1; attempt <= options.attempts; attempt++) {
    let waitMs = options.backoffMs * 2 ** (attempt - 1);
    try {
      const response = await fetch(delivery.url, {
        method: delivery.method,
        headers: { 'content-type': 'application/json', 'user-agent': 'almoner', ...delivery.headers() },
        body: delivery.body,
        redirect: 'manual',
        signal: AbortSignal.any([options.stop, AbortSignal.timeout(ANSWER_MS)]),
      });
      status = response.status;
      const body = (await response.text()).slice(0, BODY_CHARACTERS_MAX);
      if (response.ok) return { ok: true, body };
      if (status < 500 && status !== 429 && status !== 408) return { ok: false, status };
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (Number.isFinite(retryAfter)) waitMs = Math.max(waitMs, retryAfter * 1000);
    } catch {
      // No answer: nothing is known but that it should be tried again.
      status = null;
    }
    if (options.stop.aborted) break;
    if (attempt < options.attempts)
      await sleep(Math.min(waitMs, WAIT_MAX_MS), undefined, { signal: options.stop }).catch(() => {});
  }
  return { ok: false, status };
}
