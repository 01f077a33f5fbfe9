import type { RealmCard } from '../../api-types.js';
import { grouped } from '../words/numbers.js';
import { clock, duration } from '../words/times.js';
import { Columns } from './columns.js';

const COLUMNS_SHOWN = 60;

/** Requests of the last minutes against what the realm allows. */
export function PaceChart({ pace, realm }: { readonly pace: RealmCard['pace']; readonly realm: string }) {
  const { sliceMs, endsAt, requests } = pace.recent;
  // A quiet realm answers a short list; the chart keeps its width and fills from the right.
  const shown = [...new Array(Math.max(0, COLUMNS_SHOWN - requests.length)).fill(0), ...requests].slice(
    -Math.max(COLUMNS_SHOWN, 1),
  );
  const startsAt = endsAt - shown.length * sliceMs;
  const allowed = pace.allowed === null ? null : (pace.allowed.requests * sliceMs) / pace.allowed.windowMs;
  const columns = shown.map((value: number, at) => ({
    key: startsAt + at * sliceMs,
    title: `${clock(new Date(startsAt + at * sliceMs))}: ${grouped(value)} requests`,
    parts: [{ css: 'f-requests', value }],
  }));
  const busiest = shown.reduce((most: number, value: number) => Math.max(most, value), 0);
  const most = `at most ${grouped(busiest)} requests per ${duration(sliceMs)}`;
  const limit = allowed === null ? 'no limit set' : `${Math.round(allowed * 10) / 10} allowed`;
  return (
    <Columns
      low
      label={`Requests to ${realm} since ${clock(new Date(startsAt))}: ${most}, ${limit}.`}
      columns={columns}
      limit={allowed}
      from={clock(new Date(startsAt)).slice(0, 5)}
      to={clock(new Date(endsAt)).slice(0, 5)}
    />
  );
}
