import { amountsWords } from '../../../words/amounts.js';
import { counted } from '../../../words/spelling.js';
import type { DeadSelection, SelectionCount } from '../../api/index.js';
import { change } from '../live/call.js';
import { useResource } from '../live/resource.js';
import { Pending } from './panel.js';

/**
 * Counts what a question is about before it is answered, and hands back which orders were counted: where others are
 * meant by the time the person has confirmed, the server refuses, and the new number and sums stand beside the refusal.
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
