import { workRealms } from '../../operations/services/run-workers.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import type { WorkerPort } from '../../operations/services/worker-port.js';
import type { App } from '../../runtime/app.js';
import { stopDeadlineMs, withStopSignals } from '../../runtime/stop-signals.js';
import { storeCommand } from '../frame/open-app.js';
import { text, usage, wholeNumber } from '../frame/options.js';

const USUAL_METRICS_HOST = '127.0.0.1';

/** Pays the imported batches of all configured realms until stopped. */
export const worker = storeCommand({
  name: 'worker',
  description:
    'Works off the imported batches of all configured realms until stopped. Any number, on any number of machines.',
  options: {
    concurrency: wholeNumber('N', 'requests under way at once per realm (default: 64)', {
      min: 1,
      max: 1000,
    }),
    metricsPort: wholeNumber('P', 'serve /health, /ready and /metrics of this process (0: a free port)', {
      min: 0,
      max: 65_535,
    }),
    metricsHost: text('H', `with --metrics-port: address to listen on (default: ${USUAL_METRICS_HOST})`),
  },
  examples: ['almoner worker', 'almoner worker --concurrency 16', 'almoner worker --metrics-port 9464'],
  patienceMs: Number.POSITIVE_INFINITY,
  run: (context) => {
    const { metricsPort, metricsHost, concurrency } = context.options;
    if (metricsHost !== undefined && metricsPort === undefined)
      throw usage('--metrics-host goes with --metrics-port. The worker was not started.');
    return async (app) => {
      await refuseUnsafeStore(app);
      const realms = app.config.profiles.map(({ name }) => name);
      const port =
        metricsPort === undefined
          ? null
          : await openPort(app, { host: metricsHost ?? USUAL_METRICS_HOST, port: metricsPort });
      const onReady = () => {
        port?.started();
        const asked = port === null ? '' : ` Health and metrics are at ${port.url}.`;
        context.output.note(
          `Working for ${realms.join(', ')}.${asked} Ctrl-C stops after what is being sent.`,
        );
      };
      try {
        await withStopSignals(
          (stop) => workRealms(app, { concurrency: concurrency ?? 64, stop, onReady }),
          () => context.output.note('Stopping: what is being sent finishes, nothing else is sent…'),
          stopDeadlineMs(app.config),
        );
      } finally {
        await port?.close();
      }
      context.output.print({
        json: { stopped: true, realms },
        text: 'The worker has stopped; nothing is being sent by it.',
      });
    };
  },
});

/** Opens the port for metrics and health. Its modules are loaded only for a worker that asks for the port. */
async function openPort(app: App, at: { readonly host: string; readonly port: number }): Promise<WorkerPort> {
  const { openWorkerPort } = await import('../../operations/services/worker-port.js');
  return openWorkerPort(app, at);
}
