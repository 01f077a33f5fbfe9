import { useEffect, useState } from 'preact/hooks';
import { counted, grouped } from '../../../words/spelling.js';
import { RETRIED_WORDS, STATES_SHOWN } from '../../../words/states.js';
import type { TaskReply } from '../../api/index.js';
import { asFailure, type CallFailed, read } from '../live/call.js';
import { BatchLink, OrderLink } from '../shell/address.js';
import { announce } from '../shell/page.js';
import { Button } from './fields.js';
import { Notice, Said } from './panel.js';

type TaskProgressProps = {
  /** Null before a task was started. Another task starts the display anew. */
  readonly started: TaskReply | null;
  readonly onEnd?: (task: TaskReply) => void;
  readonly onClose?: () => void;
};

/** The progress of a long change: how far it is, and which orders were left alone and why. */
export function TaskProgress({ started, ...rest }: TaskProgressProps) {
  return started === null ? null : <Task key={started.task} started={started} {...rest} />;
}

function Task({ started, onEnd, onClose }: TaskProgressProps & { readonly started: TaskReply }) {
  const { task, failure } = useTask(started, (ended) => {
    announce(`${ended.what}: ${ended.became === null ? ended.state : becameWords(ended.became)}`);
    onEnd?.(ended);
  });
  const isBad = task.state === 'failed' || task.refusedCount > 0 || (task.became?.unpaid.length ?? 0) > 0;
  return (
    <Notice tone={isBad ? 'warn' : isOver(task) ? 'good' : 'plain'}>
      <div class="task">
        <p>
          <b>{task.what}</b> <span class="soft">{isOver(task) ? task.state : 'under way'}</span>
        </p>
        <progress
          max={task.total ?? undefined}
          value={task.state === 'running' && task.total === null ? undefined : task.done}
          aria-label={task.what}
        />
        <p class="n">
          {task.total === null ? grouped(task.done) : `${grouped(task.done)} of ${grouped(task.total)}`}{' '}
          {task.became === null ? 'done' : 'put back to work'}
          {task.refusedCount > 0 &&
            `, ${counted(task.refusedCount, 'order left as it was', 'orders left as they were')}`}
          {task.became !== null && task.done > 0 && `: ${becameWords(task.became)}`}
        </p>
        {failure !== null && <p class="small">{failure.message} It goes on in the server; asking again.</p>}
        {task.error !== null && (
          <p>
            <Said {...task.error} /> <code>{task.error.code}</code>
          </p>
        )}
        {task.result.batch !== null && (
          <p>
            Batch <BatchLink batch={task.result.batch} />
          </p>
        )}
        <Orders title="What was left, and why" orders={task.refused} />
        <Orders
          title="What was not paid again, and why"
          orders={(task.became?.unpaid ?? []).map(({ order, state, why }) => ({
            order,
            why: `${RETRIED_WORDS[state]}: ${why}`,
          }))}
        />
        {task.state !== 'running' && onClose !== undefined && (
          <Button name="Close" look="quiet" onPress={onClose} />
        )}
      </div>
    </Notice>
  );
}

function Orders({ title, orders }: { readonly title: string; readonly orders: TaskReply['refused'] }) {
  if (orders.length === 0) return null;
  return (
    <details>
      <summary>{title}</summary>
      <ul>
        {orders.map(({ order, why }) => (
          <li key={order}>
            <OrderLink order={order} /> {why}
          </li>
        ))}
      </ul>
    </details>
  );
}

type Became = NonNullable<TaskReply['became']>;

function becameWords({ counts }: Became): string {
  const parts = STATES_SHOWN.filter((state) => (counts[state] ?? 0) > 0);
  return parts.map((state) => `${grouped(counts[state] ?? 0)} ${RETRIED_WORDS[state]}`).join(', ');
}

/** A retry is over once its orders have ended, not when they were queued again. */
function isOver({ state, became }: TaskReply): boolean {
  const { planned = 0, sending = 0, unknown = 0 } = became?.counts ?? {};
  return state !== 'running' && planned + sending + unknown === 0;
}

const ASK_MS = 400;
/** Retried orders are sent at the realm's pace. */
const ASK_ORDERS_MS = 1_000;
const ASK_AFTER_FAILURE_MS = 3_000;

/** Follows a task until it ends. A lost connection does not end it: the task continues in the server. */
function useTask(started: TaskReply, onEnd: (task: TaskReply) => void) {
  const [task, setTask] = useState(started);
  const [failure, setFailure] = useState<CallFailed | null>(null);
  useEffect(() => {
    if (started.state !== 'running') {
      onEnd(started);
      return;
    }
    let timer = 0;
    const ended = new AbortController();
    const ask = async () => {
      try {
        const now = await read<TaskReply>(`/api/tasks/${encodeURIComponent(started.task)}`, ended.signal);
        if (ended.signal.aborted) return;
        setTask(now);
        setFailure(null);
        if (isOver(now)) onEnd(now);
        else timer = window.setTimeout(ask, now.state === 'running' ? ASK_MS : ASK_ORDERS_MS);
      } catch (error) {
        if (ended.signal.aborted) return;
        setFailure(asFailure(error));
        timer = window.setTimeout(ask, ASK_AFTER_FAILURE_MS);
      }
    };
    timer = window.setTimeout(ask, ASK_MS);
    return () => {
      ended.abort();
      window.clearTimeout(timer);
    };
  }, [started.task]);
  return { task, failure };
}
