/** Polls a condition until it holds. On a time-out it fails with the last value. It needs no fixed sleep. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 20_000,
  /** Longer if the check itself is expensive, such as a whole command. */
  pauseMs = 25,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
