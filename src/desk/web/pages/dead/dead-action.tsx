import { useState } from 'preact/hooks';
import type { DeadSelection, TaskReply } from '../../../api/index.js';
import { asFailure, change } from '../../live/call.js';
import { Confirm } from '../../parts/confirm.js';
import { useCountedOrders } from '../../parts/counted-orders.js';
import { Button, Check } from '../../parts/fields.js';

const VERBS = { retry: 'Retry', discard: 'Discard' } as const;
export type DeadVerb = keyof typeof VERBS;
export type Ask = (verb: DeadVerb, selection: DeadSelection, what: string) => void;

type DeadButtonsProps = {
  readonly ask: Ask;
  readonly selection: DeadSelection;
  readonly what: string;
  /** How many orders the button affects; shown behind the verb. */
  readonly many?: string;
  /** True for a button in a row: its spoken label names the row. */
  readonly row?: boolean;
};

/** The buttons that retry or discard dead letters. */
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

/** Asks for the confirmation of a retry or discard, with count and sums. */
export function DeadAction({ asking: [verb, selection, what], onStarted, onClose }: DeadActionProps) {
  const { many, shown, seen, ready, reload } = useCountedOrders('/api/dead/count', selection);
  const [moved, setMoved] = useState<'asked' | 'meant' | null>(null);
  const act = async (said: { readonly reason?: string }) => {
    try {
      const newAddress = moved === 'meant' ? { newAddress: true } : {};
      const body = { ...selection, ...said, ...seen, ...newAddress };
      onStarted(await change<TaskReply>(`/api/dead/${verb}`, body));
    } catch (error) {
      if (asFailure(error).code === 'ALM_PLAN_OTHER_ADDRESS') setMoved('asked');
      reload();
      throw error;
    }
  };
  return (
    <Confirm
      title={`${VERBS[verb]} ${what}?`}
      verb={`${VERBS[verb]} ${many}`}
      danger={verb === 'discard'}
      reason={verb === 'retry' ? 'may' : 'must'}
      ready={ready}
      act={act}
      onClose={onClose}
    >
      {shown}
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
