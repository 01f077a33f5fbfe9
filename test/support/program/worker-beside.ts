import { type Logger, pino } from 'pino';
import { workRealms } from '../../../src/operations/services/run-workers.js';
import { App } from '../../../src/runtime/app.js';
import { loadConfig } from '../../../src/runtime/config/config.js';

/** `almoner worker` inside the test's process. It reads the configuration once, at its start. */
export type WorkerBeside = {
  /** Stops like SIGTERM: requests under way finish. Safe to call twice. */
  stop(): Promise<void>;
};

export async function startWorkerBeside(given: {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly logger?: Logger;
  readonly reportEveryMs?: number;
}): Promise<WorkerBeside> {
  const { env, cwd, logger = pino({ level: 'silent' }), reportEveryMs } = given;
  const config = await loadConfig({ env, cwd, flags: {} });
  const patienceMs = Number.POSITIVE_INFINITY;
  const app = await App.open({ config, logger, env, clientName: 'worker', patienceMs });
  const stop = new AbortController();
  let done = Promise.resolve();
  await new Promise<void>((ready, failed) => {
    done = workRealms(app, { concurrency: 8, stop: stop.signal, onReady: ready, reportEveryMs });
    done.catch(failed);
  });
  const end = async () => {
    stop.abort();
    await done;
    await app.close();
  };
  let ended: Promise<void> | undefined;
  return {
    stop() {
      ended ??= end();
      return ended;
    },
  };
}
