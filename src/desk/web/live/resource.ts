import { useCallback, useEffect, useState } from 'preact/hooks';
import { asFailure, type CallFailed, read } from './call.js';

export type Resource<Value> = {
  readonly value: Value | null;
  readonly failure: CallFailed | null;
  readonly loading: boolean;
  readonly reload: () => void;
};

/**
 * Fetches one document of the API. The old value stays on the page during the next fetch, so that the page does not
 * jump. A reply for an earlier address is dropped.
 */
export function useResource<Value>(path: string | null, ask = read<Value>): Resource<Value> {
  const [value, setValue] = useState<Value | null>(null);
  const [failure, setFailure] = useState<CallFailed | null>(null);
  const [loading, setLoading] = useState(path !== null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const ended = new AbortController();
    setLoading(true);
    ask(path, ended.signal).then(
      (reply) => {
        if (ended.signal.aborted) return;
        setValue(() => reply);
        setFailure(null);
        setLoading(false);
      },
      (error: unknown) => {
        if (ended.signal.aborted) return;
        setFailure(asFailure(error));
        setLoading(false);
      },
    );
    return () => ended.abort();
    // A new round fetches the same address again.
  }, [path, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { value, failure, loading, reload };
}

const RELOAD_MS = 4_000;

/**
 * Like `useResource`, and fetched again every few seconds. For documents that the live stream does not cover, such as
 * rule files, schedules and notices.
 */
export function useFreshResource<Value>(path: string | null): Resource<Value> {
  const resource = useResource<Value>(path);
  const { reload } = resource;
  useEffect(() => {
    const timer = setInterval(reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return resource;
}

/** Runs one change at a time, and holds whether it is under way and how it failed. */
export function useChange() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<CallFailed | null>(null);
  /** Resolves to true where the change succeeded. */
  const attempt = async (act: () => Promise<void>): Promise<boolean> => {
    setBusy(true);
    setFailure(null);
    try {
      await act();
      return true;
    } catch (error) {
      setFailure(asFailure(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, attempt };
}
