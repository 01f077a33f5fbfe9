import { useState } from 'preact/hooks';
import { counted } from '../../../../words/spelling.js';
import type { ResolveRequest, TaskReply } from '../../../api/index.js';
import { asFailure, change } from '../../live/call.js';
import { Confirm } from '../../parts/confirm.js';

export type Decision = ResolveRequest['decision'];

type ResolveDoubtsProps = {
  readonly orders: readonly string[];
  readonly decision: Decision;
  /** What the server says this decision does, where it was asked. */
  readonly does?: string;
  readonly onStarted: (task: TaskReply) => void;
  readonly onClose: () => void;
};

const DOES: Readonly<Record<Decision, string>> = {
  paid: 'Ends as paid, with the operator as evidence. Nothing is sent.',
  unpaid:
    'Ends as exhausted: definitely not applied. Nothing is sent before somebody retries it as a dead letter, which waits until its request can no longer arrive.',
};

export function ResolveDoubts({ orders, decision, does, onStarted, onClose }: ResolveDoubtsProps) {
  const [arriving, setArriving] = useState(false);
  const many = counted(orders.length, 'order');
  const settle = decision === 'paid' ? `Settle ${many} as paid` : `Settle ${many} as not paid`;
  return (
    <Confirm
      title={decision === 'paid' ? `${many}: was paid?` : `${many}: was not paid?`}
      verb={arriving ? `${settle} all the same` : settle}
      danger={arriving}
      reason="must"
      act={async (reason) => {
        const request: ResolveRequest = {
          orders,
          decision,
          reason,
          expect: orders.length,
          mayArrive: arriving,
        };
        try {
          onStarted(await change<TaskReply>('/api/doubts/resolve', request));
        } catch (error) {
          // Said once; the same button then means that the person knows.
          setArriving(asFailure(error).code === 'ALM_BATCH_MAY_ARRIVE');
          throw error;
        }
      }}
      onClose={onClose}
    >
      <p>{does ?? DOES[decision]}</p>
      <p class="soft">
        This cannot be taken back. Say in the reason what you saw: the member’s balance, the upstream log, the
        request id.
      </p>
    </Confirm>
  );
}
