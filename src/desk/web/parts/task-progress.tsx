import { useEffect, useState } from 'preact/hooks';
import { counted, grouped } from '../../../words/spelling.js';
import type { TaskReply } from '../../api/index.js';
import { asFailure, type CallFailed, read } from '../live/call.js';
import { BatchLink, OrderLink } from '../shell/address.js';
import { announce } from '../shell/page.js';
import { Button } from './fields.js';
import { Notice, Said } from './panel.js';

type TaskProgressProps = {
  /** Null where nothing was started; another one begins anew. */
  readonly started: TaskReply | null;
  readonly onEnd?: (task: TaskReply) => void;
  readonly onClose?: () => void;
};

/** What became of a change that takes a while: how far it is, and what was left as it was and why. */
export function TaskProgress({ started, ...rest }: TaskProgressProps) {
  return started === null ? null : <Task key={started.task} started={started} {...rest} />;
}

function Task({ started, onEnd, onClose }: TaskProgressProps & { readonly started: TaskReply }) {
  const { task, failure } = useTask(started, (ended) => {
    announce(`${ended.what}: ${ended.state}`);
    onEnd?.(ended);
  });
  const tone = task.state === 'failed' || task.refusedCount > 0 ? 'warn' : 'good';
  return (
    <Notice tone={task.state === 'running' ? 'plain' : tone}>
      <div class="task">
        <p>
          <b>{task.what}</b> <span class="soft">{task.state === 'running' ? 'under way' : task.state}</span>
        </p>
        <progress
          max={task.total ?? undefined}
          value={task.state === 'running' && task.total === null ? undefined : task.done}
          aria-label={task.what}
        />
        <p class="n">
          {task.total === null ? grouped(task.done) : `${grouped(task.done)} of ${grouped(task.total)}`} done
          {task.refusedCount > 0 && `, ${counted(task.refusedCount, 'order')} left as they were`}
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
        {task.refused.length > 0 && (
          <details>
            <summary>What was left, and why</summary>
            <ul>
              {task.refused.map(({ order, why }) => (
                <li key={order}>
                  <OrderLink order={order} /> {why}
                </li>
              ))}
            </ul>
          </details>
        )}
        {task.state !== 'running' && onClose !== undefined && (
          <Button name="Close" look="quiet" onPress={onClose} />
        )}
      </div>
    </Notice>
  );
}

const ASK_MS = 400;
const ASK_AFTER_FAILURE_MS = 3_000;

/** Follows something long until it is over. A lost connection does not end it: it goes on in the server. */
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
        if (now.state === 'running') timer = window.setTimeout(ask, ASK_MS);
        else onEnd(now);
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
