import { useRef } from 'preact/hooks';
import type { OrderMark, OrderState } from '../../../core/states.js';
import { clockTime, dayAndClock, duration, utcTime } from '../../../words/spelling.js';
import { BATCH_WORDS, STATE_WORDS, STATES_SHOWN, standingWords } from '../../../words/states.js';
import type { BatchSummary } from '../../api/index.js';

/** Each state has a shape beside its colour and word, so that the colours alone need not be told apart. */
const SHAPES: Readonly<Record<OrderState, string>> = {
  paid: 'M2.5 6.5 5 9l4.5-6',
  refused: 'M3 3l6 6M9 3 3 9',
  exhausted: 'M6 1.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4M3.2 8.8l5.6-5.6',
  doubt: 'M4 4.2a2 2 0 1 1 2.8 1.9c-.6.3-.8.6-.8 1.2M6 9.6v.2',
  unknown: 'M2.4 6h.2M5.9 6h.2M9.4 6h.2',
  sending: 'M2 6h7M6.4 3.2 9.2 6 6.4 8.8',
  duplicate: 'M2.5 4.4h7M2.5 7.6h7',
  invalid: 'M6 2v5M6 9.6v.2',
  planned: 'M6 2.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6',
  cancelled: 'M2.5 6h7',
};

/** The state of an order as shape, colour and word. */
export function StateMark({ state }: { readonly state: OrderState }) {
  return (
    <span class="state" title={STATE_WORDS[state]}>
      <svg class={`s-${state}`} viewBox="0 0 12 12" aria-hidden="true">
        <path d={SHAPES[state]} />
      </svg>
      <span>{state}</span>
    </span>
  );
}

export function Marks({ marks }: { readonly marks: readonly OrderMark[] }) {
  return (
    <>
      {marks.map((mark) => (
        <span key={mark} class="chip">
          {mark}
        </span>
      ))}
    </>
  );
}

/** The state of a batch. A batch with doubts is marked as unfinished in any state. */
export function BatchStateMark({
  batch,
}: {
  readonly batch: Pick<BatchSummary, 'state' | 'counts' | 'rows'>;
}) {
  const { state, counts } = batch;
  const look = state === 'done' && (counts.doubt ?? 0) > 0 ? 'paused' : state;
  return (
    <span class={`pill b-${look}`} title={BATCH_WORDS[state]}>
      {standingWords(batch)}
    </span>
  );
}

export function RehearsalChip({ on }: { readonly on: boolean }) {
  return on ? <span class="chip rehearsal">REHEARSAL</span> : null;
}

/** In a running batch these states gain and lose orders every second. */
const MOVING: ReadonlySet<OrderState> = new Set(['paid', 'sending', 'planned']);

/**
 * The states to show for a batch. While it runs, a state stays listed once it had orders; otherwise rows would come
 * and go and move everything below them.
 */
export function useSeenStates({ counts, state }: BatchSummary): readonly OrderState[] {
  const seen = useRef(new Set<OrderState>());
  for (const each of STATES_SHOWN) if ((counts[each] ?? 0) > 0) seen.current.add(each);
  if (state !== 'running') return STATES_SHOWN.filter((each) => (counts[each] ?? 0) > 0);
  return STATES_SHOWN.filter((each) => seen.current.has(each) || MOVING.has(each));
}

type TimeProps = { readonly at: string | null; readonly none?: string };

/** A time in the viewer's zone, with UTC for comparing it with a log. */
export function Time({ at, none = 'not yet' }: TimeProps) {
  if (at === null) return <span class="soft">{none}</span>;
  const moment = new Date(at);
  return (
    <time class="n" dateTime={moment.toISOString()} title={utcTime(moment.getTime())}>
      {dayAndClock(moment, new Date())}
    </time>
  );
}

/** The remaining time and the clock time of the end. */
export function Eta({ seconds }: { readonly seconds: number | null }) {
  if (seconds === null) return <span class="soft">no estimate</span>;
  if (seconds === 0) return <span>any moment</span>;
  const end = new Date(Date.now() + seconds * 1_000);
  const far = seconds > 20 * 3_600;
  return (
    <span class="n" title={`About ${utcTime(end.getTime())}`}>
      {duration(seconds * 1_000)} left, about{' '}
      {far ? dayAndClock(end, new Date()).slice(0, -3) : clockTime(end).slice(0, 5)}
    </span>
  );
}
