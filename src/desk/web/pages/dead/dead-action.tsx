import { useEffect, useState } from 'preact/hooks';
import { counted, grouped } from '../../../../words/spelling.js';
import type { DeadSelection, SelectionCount, TaskReply } from '../../../api/index.js';
import { asFailure, type CallFailed, change } from '../../live/call.js';
import { Confirm } from '../../parts/confirm.js';
import { Check } from '../../parts/fields.js';
import { Pending } from '../../parts/panel.js';

export type DeadVerb = 'retry' | 'discard';
export type Ask = (verb: DeadVerb, selection: DeadSelection, what: string) => void;

type DeadActionProps = {
  readonly verb: DeadVerb;
  readonly selection: DeadSelection;
  readonly what: string;
  readonly onStarted: (task: TaskReply) => void;
  readonly onClose: () => void;
};

/**
 * Counts first and hands the count back with the change: when dead letters came or went meanwhile, the server
 * refuses instead of doing more than the person agreed to.
 */
export function DeadAction({ verb, selection, what, onStarted, onClose }: DeadActionProps) {
  const [count, setCount] = useState<SelectionCount | null>(null);
  const [failure, setFailure] = useState<CallFailed | null>(null);
  const [moved, setMoved] = useState<'asked' | 'meant' | null>(null);
  const ask = () => {
    setFailure(null);
    change<SelectionCount>('/api/dead/count', selection).then(setCount, (error: unknown) =>
      setFailure(asFailure(error)),
    );
  };
  useEffect(ask, []);
  const act = async (reason: string) => {
    try {
      const body = {
        ...selection,
        expect: count?.count ?? 0,
        ...(reason === '' ? {} : { reason }),
        ...(moved === 'meant' ? { newAddress: true } : {}),
      };
      onStarted(await change<TaskReply>(`/api/dead/${verb}`, body));
    } catch (error) {
      if (asFailure(error).code === 'ALM_PLAN_OTHER_ADDRESS') setMoved('asked');
      // The number was another one by now: show the new one beside the refusal.
      ask();
      throw error;
    }
  };
  const many = count === null ? 'orders' : counted(count.count, 'order');
  return (
    <Confirm
      title={verb === 'retry' ? `Retry ${what}?` : `Discard ${what}?`}
      verb={`${verb === 'retry' ? 'Retry' : 'Discard'} ${count === null ? '' : many}`}
      danger={verb === 'discard'}
      reason={verb === 'retry' ? 'may' : 'must'}
      ready={count !== null && count.count > 0}
      act={act}
      onClose={onClose}
    >
      <Pending of={{ value: count, failure, reload: ask }} rows={1} />
      {count !== null && (
        <p class="n">
          <b>{many}</b>, {grouped(count.tokens)} tokens.
        </p>
      )}
      <p>
        {verb === 'retry'
          ? 'They are definitely not applied. Each is sent again at the realm’s pace and may be paid now.'
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
