import { createStore, useStore } from '../live/store.js';

const spoken = createStore('');

/** Says something to screen readers without moving the focus; the same sentence twice is said twice. */
export function announce(text: string): void {
  spoken.set(spoken.get() === text ? `${text}\u00a0` : text);
}

export function Announcer() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {useStore(spoken)}
    </div>
  );
}
