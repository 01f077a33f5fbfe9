import { useState } from 'preact/hooks';
import type { DoubtSelection, ResolveRequest, TaskReply } from '../../../api/index.js';
import { asFailure, change } from '../../live/call.js';
import { Confirm } from '../../parts/confirm.js';
import { useCountedOrders } from '../../parts/counted-orders.js';

export type Decision = ResolveRequest['decision'];

type ResolveDoubtsProps = {
  readonly selection: DoubtSelection;
  readonly decision: Decision;
  /** The effect of this decision in the server's words, where it was asked. */
  readonly does?: string;
  readonly onStarted: (task: TaskReply) => void;
  readonly onClose: () => void;
};

const DOES: Readonly<Record<Decision, string>> = {
  paid: 'Ends as paid, with the operator as evidence. Nothing is sent.',
  unpaid:
    'Ends as exhausted, as not applied, by your word. Nothing is sent before a person retries it as a dead letter, and a retry waits until the earlier request can no longer arrive.',
};

/** Asks for the confirmation of a decision on doubts. Neither decision sends anything. */
export function ResolveDoubts({ selection, decision, does, onStarted, onClose }: ResolveDoubtsProps) {
  const { many, shown, seen, ready, reload } = useCountedOrders('/api/doubts/count', selection);
  const [arriving, setArriving] = useState(false);
  const settle = `Settle ${many} as ${decision === 'paid' ? 'paid' : 'not paid'}`;
  const act = async ({ reason = '' }) => {
    const request: ResolveRequest = { ...selection, decision, reason, ...seen, mayArrive: arriving };
    try {
      onStarted(await change<TaskReply>('/api/doubts/resolve', request));
    } catch (error) {
      // The page warns once. A second press of the same button confirms that the person has read it.
      setArriving(asFailure(error).code === 'ALM_BATCH_MAY_ARRIVE');
      reload();
      throw error;
    }
  };
  return (
    <Confirm
      title={`${settle}?`}
      verb={arriving ? `${settle} all the same` : settle}
      danger={arriving}
      reason="must"
      ready={ready}
      act={act}
      onClose={onClose}
    >
      {shown}
      <p>{does ?? DOES[decision]}</p>
      <p class="soft">
        This cannot be taken back. Say in the reason what you saw: the member’s balance, the upstream log, the
        request id.
      </p>
    </Confirm>
  );
}
