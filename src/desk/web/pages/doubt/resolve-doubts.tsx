import { useState } from 'preact/hooks';
import { absoluteWords } from '../../../../words/amounts.js';
import { counted } from '../../../../words/spelling.js';
import type { DoubtSelection, ResolveRequest, SelectionCount, TaskReply } from '../../../api/index.js';
import { asFailure, change } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { Confirm } from '../../parts/confirm.js';
import { Pending } from '../../parts/panel.js';

export type Decision = ResolveRequest['decision'];

type ResolveDoubtsProps = {
  readonly selection: DoubtSelection;
  readonly decision: Decision;
  /** What the server says this decision does, where it was asked. */
  readonly does?: string;
  readonly onStarted: (task: TaskReply) => void;
  readonly onClose: () => void;
};

const DOES: Readonly<Record<Decision, string>> = {
  paid: 'Ends as paid, with the operator as evidence. Nothing is sent.',
  unpaid:
    'Ends as exhausted, as not applied, by your word. Nothing is sent before somebody retries it as a dead letter, which waits until its request can no longer arrive.',
};

/**
 * Counts first, and hands back which orders were counted: where others are meant by the time the person has
 * confirmed, the server refuses, and the new number and sum stand beside the refusal.
 */
export function ResolveDoubts({ selection, decision, does, onStarted, onClose }: ResolveDoubtsProps) {
  const counting = useResource('/api/doubts/count', (path) => change<SelectionCount>(path, selection));
  const { value: found } = counting;
  const [arriving, setArriving] = useState(false);
  const many = found === null ? 'orders' : counted(found.count, 'order');
  const settle = `Settle ${many} as ${decision === 'paid' ? 'paid' : 'not paid'}`;
  const act = async ({ reason = '' }) => {
    const { count: expect, which } = found ?? { count: 0, which: '' };
    const request: ResolveRequest = { ...selection, decision, reason, expect, which, mayArrive: arriving };
    try {
      onStarted(await change<TaskReply>('/api/doubts/resolve', request));
    } catch (error) {
      // The warning is said once; the same button then means that the person knows.
      setArriving(asFailure(error).code === 'ALM_BATCH_MAY_ARRIVE');
      counting.reload();
      throw error;
    }
  };
  return (
    <Confirm
      title={`${settle}?`}
      verb={arriving ? `${settle} all the same` : settle}
      danger={arriving}
      reason="must"
      ready={found !== null && found.count > 0}
      act={act}
      onClose={onClose}
    >
      <Pending of={counting} rows={1} />
      {found !== null && (
        <p class="n">
          <b>{many}</b>, {absoluteWords(found.tokens)}.
        </p>
      )}
      <p>{does ?? DOES[decision]}</p>
      <p class="soft">
        This cannot be taken back. Say in the reason what you saw: the member’s balance, the upstream log, the
        request id.
      </p>
    </Confirm>
  );
}
