import type { BatchSummary } from '../api-types.js';

/** Something a community wants to be told about one of its batches. */
export type NoticeEvent = 'finished' | 'halted' | 'doubt' | 'progress';

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
};

/** What is new about a batch since it was last told of. */
export function eventsFor(batch: BatchSummary, told: Told | null): NoticeEvent[] {
  const doubts = batch.counts.doubt ?? 0;
  const events: NoticeEvent[] = [];
  const isNew = told?.state !== batch.state;
  if (doubts > (told?.doubts ?? 0)) events.push('doubt');
  if (isNew && batch.state === 'halted') events.push('halted');
  if (isNew && (batch.state === 'done' || batch.state === 'cancelled')) events.push('finished');
  if (events.length === 0 && (isNew || batch.state === 'running')) events.push('progress');
  return events;
}

/** An id given with --batch-id may stand in two realms. */
export function keyOf({ realm, batch }: { readonly realm: string; readonly batch: string }): string {
  return `${realm}/${batch}`;
}
