import { isAlmonerError } from '../../../core/errors/error.js';
import { journalsHere, type RealmRecovery, recoveryState } from '../../../operations/services/recover.js';
import { riskOf, storeFindings } from '../../../operations/services/store-safety.js';
import { App } from '../../../runtime/app.js';
import type { Config } from '../../../runtime/config/config.js';
import type { Logger } from '../../../runtime/logger.js';
import { type Check, failed, ok, warning } from '../check.js';

/** Whether the books remember everything that was sent: the fence, the journals, and whose are missing. */
export function recovery(config: Config, env: NodeJS.ProcessEnv, logger: () => Promise<Logger>): Check {
  return {
    name: 'journals',
    async run() {
      try {
        const app = await openForDoctor(config, env, logger);
        try {
          const here = await journalsHere(config.dataFolder);
          const size = `${here.sessions} journals, ${Math.ceil(here.bytes / 1024)} kB of at most ${config.limits.journalMegabytes} MB`;
          return judge(await recoveryState(app), size);
        } finally {
          await app.close();
        }
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
    },
  };
}

function judge(realms: readonly RealmRecovery[], size: string) {
  const shut = realms.filter(({ armed, untouched }) => !armed && !untouched);
  const stuck = shut.filter(
    ({ reason, sessions }) => reason !== null || sessions.some(({ liveness }) => liveness === 'elsewhere'),
  );
  if (stuck.length > 0)
    return failed(
      stuck.map(lineOf).join('\n'),
      'Start `almoner run` or `almoner worker` on each machine that sent, or run `almoner recover` there; for a lost disk `almoner recover --accept-missing SESSION`.',
    );
  // A store of our own ends with the last command, so that every next one finds it restarted: no fault.
  const unsettled = shut.filter(({ sessions }) => sessions.length > 0);
  if (unsettled.length > 0)
    return warning(
      [size, ...unsettled.map(lineOf)].join('\n'),
      'Nothing needs to be done: the next `almoner run` or `almoner worker` here does it before anything is sent.',
    );
  const forgotten = realms.flatMap(({ realm, parked, rollback }) => [
    ...(rollback === null
      ? []
      : [
          `${realm}: the store once forgot ${
            rollback.attempts === undefined
              ? `moves ${rollback.found + 1} to ${rollback.seen}`
              : `${rollback.attempts} attempts`
          }; the journals put them back`,
        ]),
    ...parked.map(({ batch, orders }) => `${realm}: ${orders} payments of the forgotten batch ${batch}`),
  ]);
  if (forgotten.length > 0)
    return warning(
      [size, ...forgotten].join('\n'),
      'Find out why the store lost writes (a lagging replica, a restored backup); run the files of forgotten batches again, each under the --batch-id that it was given, if any.',
    );
  return ok(size);
}

function lineOf({ realm, sessions, reason }: RealmRecovery): string {
  const listed = sessions.map(
    ({ session, liveness, pid }) => ` Session ${session} (pid ${pid}, ${liveness}).`,
  );
  const message = reason?.message ?? 'the store was restarted; the next run or worker merges the journals.';
  return `${realm}: ${message}${listed.join('')}`;
}

/** The store answers, and keeps what it acknowledged: append-only, fsync on every write, no eviction. */
export function storeSafe(config: Config, env: NodeJS.ProcessEnv, logger: () => Promise<Logger>): Check {
  return {
    name: 'store',
    async run() {
      try {
        const app = await openForDoctor(config, env, logger);
        try {
          const findings = await storeFindings(app);
          if (findings.length === 0) return ok(`${app.store.address} keeps what it acknowledges`);
          const message = findings.map((found) => `${found.message} [${found.code}]`).join('\n');
          const remedy = findings.map(({ next }) => next).join(' ');
          const accepted = findings.every(({ code }) => config.risks.includes(riskOf(code)));
          return accepted
            ? warning(`${message}\naccepted by name in the configuration (risks)`, remedy)
            : failed(message, remedy);
        } finally {
          await app.close();
        }
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
    },
  };
}

/** A person waits for the diagnosis: what does not answer soon is a finding. */
async function openForDoctor(
  config: Config,
  env: NodeJS.ProcessEnv,
  logger: () => Promise<Logger>,
): Promise<App> {
  return App.open({ config, env, logger: await logger(), clientName: 'doctor', patienceMs: 5_000 });
}
