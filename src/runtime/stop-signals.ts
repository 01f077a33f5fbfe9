/**
 * Ctrl-C, SIGTERM and a closed terminal ask the command to stop in order: what is being sent finishes. A
 * second one leaves at once; the next start finds what was left, as after any other death.
 */
export type StopSignals = { readonly requested: AbortSignal; release(): void };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export const INTERRUPTED_EXIT = 130;

export function listenForStop(onFirst: (signal: string) => void = () => {}): StopSignals {
  const controller = new AbortController();
  const hear = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(INTERRUPTED_EXIT);
    onFirst(signal);
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return {
    requested: controller.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, hear);
    },
  };
}
