import { useState } from 'preact/hooks';
import { absoluteWords } from '../../../../words/amounts.js';
import { counted } from '../../../../words/spelling.js';
import type { DeadSelection, SelectionCount, TaskReply } from '../../../api/index.js';
import { asFailure, change } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { Confirm } from '../../parts/confirm.js';
import { Button, Check } from '../../parts/fields.js';
import { Pending } from '../../parts/panel.js';

const VERBS = { retry: 'Retry', discard: 'Discard' } as const;
export type DeadVerb = keyof typeof VERBS;
export type Ask = (verb: DeadVerb, selection: DeadSelection, what: string) => void;

type DeadButtonsProps = {
  readonly ask: Ask;
  readonly selection: DeadSelection;
  readonly what: string;
  /** How many are meant, behind the verb. */
  readonly many?: string;
  /** One row among others: what is heard names it. */
  readonly row?: boolean;
};

export function DeadButtons({ ask, selection, what, many = '', row = false }: DeadButtonsProps) {
  return (['retry', 'discard'] as const).map((verb) => (
    <Button
      key={verb}
      name={`${VERBS[verb]}${many}`}
      look={row ? 'quiet' : verb === 'discard' ? 'danger-quiet' : undefined}
      label={row ? `${VERBS[verb]} ${what}` : undefined}
      onPress={() => ask(verb, selection, what)}
    />
  ));
}

type DeadActionProps = {
  readonly asking: Parameters<Ask>;
  readonly onStarted: (task: TaskReply) => void;
  readonly onClose: () => void;
};

/**
 * Counts first and hands the count back with the change: when dead letters came or went meanwhile, the server
 * refuses instead of doing more than the person agreed to.
 */
export function DeadAction({ asking: [verb, selection, what], onStarted, onClose }: DeadActionProps) {
  const counting = useResource('/api/dead/count', (path) => change<SelectionCount>(path, selection));
  const count = counting.value;
  const [moved, setMoved] = useState<'asked' | 'meant' | null>(null);
  const act = async (said: { readonly reason?: string }) => {
    try {
      const newAddress = moved === 'meant' ? { newAddress: true } : {};
      const body = { ...selection, ...said, expect: count?.count ?? 0, ...newAddress };
      onStarted(await change<TaskReply>(`/api/dead/${verb}`, body));
    } catch (error) {
      if (asFailure(error).code === 'ALM_PLAN_OTHER_ADDRESS') setMoved('asked');
      // The number was another one by now: show the new one beside the refusal.
      counting.reload();
      throw error;
    }
  };
  const many = count === null ? 'orders' : counted(count.count, 'order');
  return (
    <Confirm
      title={`${VERBS[verb]} ${what}?`}
      verb={`${VERBS[verb]} ${count === null ? '' : many}`}
      danger={verb === 'discard'}
      reason={verb === 'retry' ? 'may' : 'must'}
      ready={count !== null && count.count > 0}
      act={act}
      onClose={onClose}
    >
      <Pending of={counting} rows={1} />
      {count !== null && (
        <p class="n">
          <b>{many}</b>, {absoluteWords(count.tokens)}.
        </p>
      )}
      <p>
        {verb === 'retry'
          ? 'Each is sent again at the realm’s pace and may be paid now. One that a person called unpaid is left as it is while its request may still arrive; the result says which.'
          : 'They keep their state and are marked discarded: they leave this list and are not sent again.'}{' '}
        Doubts are never touched.
      </p>
      {moved !== null && (
        <Check
          label="The new address is meant"
          on={moved === 'meant'}
          onChange={(on) => setMoved(on ? 'meant' : 'asked')}
        />
      )}
    </Confirm>
  );
}
