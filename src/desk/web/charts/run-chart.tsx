import type { Rate } from '../../../core/profile.js';
import type { BatchReply } from '../../api/index.js';
import { counted, grouped } from '../words/numbers.js';
import { dayAndClock, duration } from '../words/times.js';
import { Columns } from './columns.js';

const COLUMNS_MAX = 90;

type Bin = { at: number; requests: number; paid: number; failed: number; rateLimited: number };

/** The run over time: what was settled, and the requests it took against the allowed pace. */
export function RunChart({
  series,
  rate,
}: {
  readonly series: BatchReply['series'];
  readonly rate: Rate | null;
}) {
  const { bins, binMs } = binned(series);
  const first = bins[0];
  const last = bins.at(-1);
  if (first === undefined || last === undefined)
    return <p class="soft chart-none">Nothing was sent yet; the chart begins with the first request.</p>;
  const now = new Date();
  const ends = {
    from: dayAndClock(new Date(first.at), now),
    to: dayAndClock(new Date(last.at + binMs), now),
  };
  const slice = duration(binMs);
  const allowed = rate === null ? null : (rate.requests * binMs) / rate.windowMs;
  const sum = (field: 'paid' | 'failed') => bins.reduce((total, bin) => total + bin[field], 0);
  const when = (bin: Bin) => dayAndClock(new Date(bin.at), now);
  return (
    <div class="charts">
      <figure>
        <figcaption>
          Settled per {slice}
          <span class="legend">
            <i class="key k-paid" /> paid <i class="key k-refused" /> not paid
          </span>
        </figcaption>
        <Columns
          {...ends}
          label={`Settled per ${slice}: ${counted(sum('paid'), 'order')} paid and ${grouped(sum('failed'))} not paid over the run.`}
          columns={bins.map((bin) => ({
            key: bin.at,
            title: `${when(bin)}: ${grouped(bin.paid)} paid, ${grouped(bin.failed)} not paid`,
            parts: [
              { css: 'f-paid', value: bin.paid },
              { css: 'f-refused', value: bin.failed },
            ],
          }))}
        />
      </figure>
      <figure>
        <figcaption>
          Requests per {slice}
          <span class="legend">
            <i class="key k-requests" /> answered <i class="key k-limited" /> slow down (429)
            {allowed !== null && (
              <>
                {' '}
                <i class="key dash" /> allowed
              </>
            )}
          </span>
        </figcaption>
        <Columns
          {...ends}
          label={`Requests per ${slice}: at most ${grouped(Math.max(...bins.map((bin) => bin.requests)))}${allowed === null ? '' : `, allowed ${grouped(Math.round(allowed))}`}.`}
          limit={allowed}
          columns={bins.map((bin) => ({
            key: bin.at,
            title: `${when(bin)}: ${grouped(bin.requests)} requests, ${grouped(bin.rateLimited)} of them told to slow down`,
            parts: [
              { css: 'f-requests', value: Math.max(0, bin.requests - bin.rateLimited) },
              { css: 'f-limited', value: bin.rateLimited },
            ],
          }))}
        />
      </figure>
    </div>
  );
}

/** Slices may be missing where nothing happened, and may be far too many to draw. */
export function binned({ sliceMs, slices }: BatchReply['series']): { bins: Bin[]; binMs: number } {
  const ats = slices.map((slice) => slice.at);
  const start = ats.reduce((low, at) => Math.min(low, at), Number.POSITIVE_INFINITY);
  const end = ats.reduce((high, at) => Math.max(high, at), 0) + sliceMs;
  if (!Number.isFinite(start) || sliceMs <= 0) return { bins: [], binMs: sliceMs };
  const binMs = sliceMs * Math.max(1, Math.ceil((end - start) / sliceMs / COLUMNS_MAX));
  const bins = Array.from({ length: Math.ceil((end - start) / binMs) }, (_, n): Bin => {
    return { at: start + n * binMs, requests: 0, paid: 0, failed: 0, rateLimited: 0 };
  });
  for (const slice of slices) {
    const bin = bins[Math.floor((slice.at - start) / binMs)];
    if (bin === undefined) continue;
    bin.requests += slice.requests;
    bin.paid += slice.paid;
    bin.failed += slice.failed;
    bin.rateLimited += slice.rateLimited;
  }
  return { bins, binMs };
}
