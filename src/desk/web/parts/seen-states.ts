import { useRef } from 'preact/hooks';
import type { OrderState } from '../../../core/states.js';
import type { BatchSummary } from '../../api-types.js';
import { STATES_SHOWN } from '../words/states.js';

/** A running batch has some of these from second to second and then none. */
const MOVING: ReadonlySet<OrderState> = new Set(['paid', 'sending', 'planned']);

/**
 * The states to show of a batch. While it runs a state that was seen once stays, even with no order in it:
 * rows that come and go every second would make everything below them jump.
 */
export function useSeenStates({ counts, state }: BatchSummary): readonly OrderState[] {
  const seen = useRef(new Set<OrderState>());
  for (const each of STATES_SHOWN) if ((counts[each] ?? 0) > 0) seen.current.add(each);
  if (state !== 'running') return STATES_SHOWN.filter((each) => (counts[each] ?? 0) > 0);
  return STATES_SHOWN.filter((each) => seen.current.has(each) || MOVING.has(each));
}
