import type { Waiting } from '../../../core/waiting.js';
import { counted, grouped } from '../../../words/spelling.js';
import type { BatchSummary } from '../../api/index.js';
import { Prose } from './panel.js';
import { Time } from './time.js';

/** Orders that stand still: how many, why, since when, and what ends it. */
export function WaitingList({ batch }: { readonly batch: BatchSummary }) {
  const waiting = batch.waiting.filter((one) => isNews(one, batch));
  if (waiting.length === 0) return null;
  return (
    <ul class="waiting-list">
      {waiting.map((one) => (
        <li key={`${one.why} ${one.session ?? ''}`} class={one.session === null ? '' : 'lost'}>
          <p>
            <b class="n">
              {counted(one.orders, 'order')}, {grouped(one.tokens)} tokens
            </b>{' '}
            <span class="chip">{one.why}</span>{' '}
            <span class="soft small">
              since <Time at={one.since} />
              {one.until !== null && (
                <>
                  , until <Time at={one.until} />
                </>
              )}
            </span>
          </p>
          <p>
            <Prose text={one.message} /> {one.next !== null && <code>{one.next}</code>}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** Doubts have a page of their own, and what the batch's reason says is shown above. */
function isNews({ why, message }: Waiting, { reason }: BatchSummary): boolean {
  return why !== 'doubt' && (reason === null || !message.startsWith(reason.message));
}
