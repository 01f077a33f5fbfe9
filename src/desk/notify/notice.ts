import { lostSessions } from '../../core/waiting.js';
import type { BatchSummary } from '../api-types.js';

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

/** What was last told of a batch, kept in the store: a restarted desk neither repeats nor forgets. */
export type Told = {
  readonly state: string;
  readonly doubts: number;
  /** Sending processes that were said to be lost, joined by blanks. */
  readonly lost: string;
};

/** A killed process is taken over within seconds where anybody is there to do it: that is no news. */
const LOST_AFTER_MS = 45_000;

/** Of a batch, as of now. */
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

/** An id given with --batch-id may stand in two realms. */
export function keyOf({ realm, batch }: { readonly realm: string; readonly batch: string }): string {
  return `${realm}/${batch}`;
}
