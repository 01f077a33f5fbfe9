import { amountsWords } from '../../../words/amounts.js';
import { counted } from '../../../words/spelling.js';
import type { DeadSelection, SelectionCount } from '../../api/index.js';
import { change } from '../live/call.js';
import { useResource } from '../live/resource.js';
import { Pending } from './panel.js';

/**
 * Counts the orders that a question affects, and returns which ones were counted. Where others match at the
 * confirmation, the server refuses, and the dialog shows the new number and sums.
 */
export function useCountedOrders(path: string, selection: DeadSelection) {
  const counting = useResource(path, (at) => change<SelectionCount>(at, selection));
  const { value: found, reload } = counting;
  const many = found === null ? 'orders' : counted(found.count, 'order');
  const shown = (
    <>
      <Pending of={counting} rows={1} />
      {found !== null && (
        <p class="n">
          <b>{many}</b>: {amountsWords(found.amounts)} tokens.
        </p>
      )}
    </>
  );
  const seen = { expect: found?.count ?? 0, which: found?.which ?? '' };
  return { many, shown, seen, ready: found !== null && found.count > 0, reload };
}
