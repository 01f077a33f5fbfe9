import { useEffect, useState } from 'preact/hooks';

/** A value that several parts of the page share and subscribe to. */
type Store<Value> = ReturnType<typeof createStore<Value>>;

export function createStore<Value>(first: Value) {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next: Value) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Draws a component again whenever the store's value changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, redraw] = useState({});
  const drawn = store.get();
  useEffect(() => {
    const look = () => redraw({});
    // Without this check a change between drawing and subscribing would be missed.
    if (!Object.is(store.get(), drawn)) look();
    return store.subscribe(look);
  }, [store]);
  return drawn;
}
