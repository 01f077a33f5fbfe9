import { workRealms } from '../../operations/services/run-workers.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import { stopDeadlineMs, withStopSignals } from '../../runtime/stop-signals.js';
import { storeCommand } from '../frame/open-app.js';
import { wholeNumber } from '../frame/options.js';

export const worker = storeCommand({
  name: 'worker',
  description:
    'Works off the imported batches of all configured realms until stopped. Any number, on any number of machines.',
  options: {
    concurrency: wholeNumber('N', 'requests under way at once per realm (default: 64)', {
      min: 1,
      max: 1000,
    }),
  },
  examples: ['almoner worker', 'almoner worker --concurrency 16'],
  patienceMs: Number.POSITIVE_INFINITY,
  run: (context) => async (app) => {
    await refuseUnsafeStore(app);
    const realms = app.config.profiles.map(({ name }) => name);
    await withStopSignals(
      (stop) =>
        workRealms(app, {
          concurrency: context.options.concurrency ?? 64,
          stop,
          onReady: () =>
            context.output.note(`Working for ${realms.join(', ')}. Ctrl-C stops after what is being sent.`),
        }),
      () => context.output.note('Stopping: what is being sent finishes, nothing else is sent…'),
      stopDeadlineMs(app.config),
    );
    context.output.print({
      json: { stopped: true, realms },
      text: 'The worker has stopped; nothing is being sent by it.',
    });
  },
});
