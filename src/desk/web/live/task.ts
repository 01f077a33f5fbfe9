import { useEffect, useState } from 'preact/hooks';
import type { TaskReply } from '../../api-types.js';
import { asFailure, type CallFailed, read } from './call.js';

const ASK_MS = 400;
const ASK_AFTER_FAILURE_MS = 3_000;

/** Follows something long until it is over. A lost connection does not end it: it goes on in the server. */
export function useTask(
  started: TaskReply,
  onEnd: (task: TaskReply) => void,
): {
  readonly task: TaskReply;
  readonly failure: CallFailed | null;
} {
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
