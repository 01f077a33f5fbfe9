import { once } from 'node:events';
import { type Serving, startServing } from '../../desk/serve.js';
import { workRealms } from '../../operations/services/run-workers.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import { stopDeadlineMs, withStopSignals } from '../../runtime/stop-signals.js';
import type { CommandBase } from '../frame/command.js';
import { storeCommand, withApp } from '../frame/open-app.js';
import { flag, text, wholeNumber } from '../frame/options.js';
import { version } from '../frame/version.js';

const USUAL_HOST = '127.0.0.1';
const USUAL_PORT = 8080;
/** A page waits 5 s for a store that does not answer. */
const PAGE_PATIENCE_MS = 5_000;

/** Runs the desk, its API, the schedules and the notifications until stopped. */
export const serve = storeCommand({
  name: 'serve',
  description: 'Serves the desk: pages, API, /metrics, /health, schedules and notifications, until stopped.',
  options: {
    host: text('H', `address to listen on (default: ${USUAL_HOST})`),
    port: wholeNumber('P', `port (default: ${USUAL_PORT}; 0: a free one)`, { min: 0, max: 65_535 }),
    publicUrl: text('U', 'the address people use, where a proxy stands in front: https://desk.example.org'),
    withWorker: flag('also work off imported batches in this process'),
    concurrency: wholeNumber('N', 'with --with-worker: requests under way at once per realm (default: 64)', {
      min: 1,
      max: 1000,
    }),
    insecureHttp: flag('accept that tokens cross the network in plain http'),
  },
  examples: [
    'almoner serve',
    'almoner serve --with-worker --port 9000',
    'almoner serve --host 0.0.0.0 --public-url https://desk.example.org',
  ],
  patienceMs: PAGE_PATIENCE_MS,
  run: (context) => async (app) => {
    const { options } = context;
    if (options.withWorker) await refuseUnsafeStore(app);
    const serve = async (stop: AbortSignal) => {
      const serving = await startServing(app, {
        host: options.host ?? USUAL_HOST,
        port: options.port ?? USUAL_PORT,
        publicUrl: options.publicUrl,
        insecureHttp: options.insecureHttp,
        version: version(),
        env: context.env,
        cwd: context.cwd,
      });
      try {
        sayReady(context, serving);
        if (options.withWorker) await workBeside(context, options.concurrency ?? 64, stop);
        else if (!stop.aborted) await once(stop, 'abort');
      } finally {
        await serving.close();
      }
    };
    await withStopSignals(
      serve,
      () => context.output.note('Stopping: what is being sent finishes…'),
      stopDeadlineMs(app.config),
    );
  },
});

/**
 * Runs the worker of `--with-worker` on connections of its own. It waits for a lost store without limit; a page does
 * not.
 */
function workBeside(context: CommandBase, concurrency: number, stop: AbortSignal): Promise<void> {
  return withApp(
    context,
    'serve-worker',
    (app) => workRealms(app, { concurrency, stop, onReady: () => {} }),
    { patienceMs: Number.POSITIVE_INFINITY },
  );
}

/** Prints the address, and the one-time token on loopback. */
function sayReady({ output }: CommandBase, { url, token, closed, pages }: Serving): void {
  if (!pages) output.note('The pages of the desk were not built, so only its API answers: npm run build.');
  output.print({
    json: { url, ...(token === null ? {} : { token }) },
    text: [
      `The desk is at ${url}`,
      ...(token === null
        ? []
        : [
            `Sign in with  ${url}/login#token=${token}`,
            'The token in the link is good until the desk stops, as often as it is used.',
          ]),
      ...(closed ? [output.colours.yellow('Nobody can sign in yet: there is no desk token.')] : []),
    ],
    next: closed
      ? 'almoner desk token add NAME --role operator'
      : token === null
        ? 'sign in with a desk token. Ctrl-C stops the desk.'
        : 'open the link. Ctrl-C stops the desk.',
  });
}
