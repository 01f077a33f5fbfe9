import { clockTime, dayAndClock, duration, utcTime } from '../../../words/spelling.js';

type TimeProps = { readonly at: string | number | null; readonly none?: string };

/** A moment in the viewer's zone, with UTC for whoever compares it with a log. */
export function Time({ at, none = 'not yet' }: TimeProps) {
  if (at === null) return <span class="soft">{none}</span>;
  const moment = new Date(at);
  return (
    <time class="n" dateTime={moment.toISOString()} title={utcTime(moment.getTime())}>
      {dayAndClock(moment, new Date())}
    </time>
  );
}

/** How long it will take, and what the clock will show then. */
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
