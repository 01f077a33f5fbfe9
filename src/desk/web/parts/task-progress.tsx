import type { TaskReply } from '../../api-types.js';
import { useTask } from '../live/task.js';
import { announce } from '../shell/announce.js';
import { BatchLink, OrderLink } from '../shell/link.js';
import { counted, grouped } from '../words/numbers.js';
import { Notice } from './notice.js';
import { Prose } from './prose.js';

type TaskProgressProps = {
  readonly started: TaskReply;
  readonly onEnd?: (task: TaskReply) => void;
  readonly onClose?: () => void;
};

/** What became of a change that takes a while: how far it is, and what was left as it was and why. */
export function TaskProgress({ started, onEnd, onClose }: TaskProgressProps) {
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
            <b>
              <Prose text={task.error.message} />
            </b>{' '}
            <Prose text={task.error.next} /> <code>{task.error.code}</code>
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
          <button type="button" class="quiet" onClick={onClose}>
            Close
          </button>
        )}
      </div>
    </Notice>
  );
}
