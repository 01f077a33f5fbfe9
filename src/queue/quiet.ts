/**
 * A store that is out of memory makes a worker report thousands of errors a second. The same trouble is
 * said once in a while, with how often it came meanwhile; different troubles do not silence each other.
 */
export function quietly(say: (message: string) => void, everyMs = 5_000): (message: string) => void {
  const known = new Map<string, { saidAtMs: number; swallowed: number }>();
  return (message) => {
    const kind = message.slice(0, KIND_CHARACTERS);
    const entry = known.get(kind);
    const now = performance.now();
    if (entry !== undefined && now - entry.saidAtMs < everyMs) {
      entry.swallowed += 1;
      return;
    }
    if (known.size >= KINDS_MAX) known.clear();
    known.set(kind, { saidAtMs: now, swallowed: 0 });
    const again = entry?.swallowed ?? 0;
    say(again > 0 ? `${message} (and ${again} times more since it was last said)` : message);
  };
}

const KIND_CHARACTERS = 48;
const KINDS_MAX = 200;
