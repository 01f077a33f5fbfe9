import type { ExitStatus } from '../../core/errors/entry.js';
import { recovery } from '../../ledger/index.js';
import { archiveInPassing } from '../../operations/services/archive.js';
import { App } from '../../runtime/app.js';
import {
  type ArgumentSpecs,
  type Command,
  type CommandBase,
  type CommandContext,
  type CommandDescription,
  defineCommand,
  type OptionSpecs,
} from './command.js';

/** How long a person's command waits for a store that does not answer. A worker waits without limit. */
const PATIENCE_MS = 15_000;

type Work = (app: App) => Promise<ExitStatus> | Promise<void>;

type StoreCommand<A extends ArgumentSpecs, O extends OptionSpecs> = Omit<CommandDescription<A, O>, 'run'> & {
  readonly patienceMs?: number;
  /** True by default: the command archives old batches after its work. A command that changes nothing sets false. */
  readonly archives?: boolean;
  /**
   * Checks the words typed and returns the work. The store opens only after that, so that a usage error needs no
   * store.
   */
  run(context: CommandContext<A, O>): Work | Promise<Work>;
};

/** Defines a command that needs the store. */
export function storeCommand<const A extends ArgumentSpecs, const O extends OptionSpecs>({
  run,
  patienceMs,
  archives,
  ...description
}: StoreCommand<A, O>): Command {
  const clientName = description.name.replaceAll(' ', '-');
  return defineCommand({
    ...description,
    async run(context) {
      const work = await run(context);
      return withApp(context, clientName, async (app) => (await work(app)) ?? 0, {
        patienceMs,
        archives,
      });
    },
  });
}

/** Binds the app to the owner of the configured token, so that the audit names that person. */
async function asTokenOwner(app: App): Promise<App> {
  if (app.config.token === null) return app;
  const { whoActs } = await import('../../operations/people/who.js');
  const person = await whoActs(app);
  return person === null ? app : app.as(person);
}

const LOOK_MS = 2_000;

/**
 * Warns, for every command, of a data folder that was put back or replaced. A store that does not answer is left to
 * the command to report.
 */
async function warnOfOtherFolder(app: App): Promise<void> {
  const looking = app.patient(0, LOOK_MS);
  for (const profile of app.config.profiles) {
    const problem = await recovery.folders.problem(looking.ledger(profile)).catch(() => null);
    if (problem !== null) app.logger.warn({ code: problem.code }, `${problem.message} ${problem.next}`);
  }
}

type Opening = {
  /** How long calls wait for a store that does not answer. */
  readonly patienceMs?: number | undefined;
  /** Whether to archive old batches after the work. */
  readonly archives?: boolean | undefined;
};

/** Opens the app for a command and closes it again, also after an error. */
export async function withApp<T>(
  context: CommandBase,
  name: string,
  work: (app: App) => Promise<T>,
  { patienceMs = PATIENCE_MS, archives = true }: Opening = {},
): Promise<T> {
  const [config, logger] = await Promise.all([context.config(), context.logger()]);
  const app = await App.open({ config, logger, env: context.env, clientName: name, patienceMs });
  try {
    if (patienceMs === PATIENCE_MS) await warnOfOtherFolder(app);
    const done = await work(await asTokenOwner(app));
    if (archives) await archiveInPassing(app);
    return done;
  } finally {
    await app.close();
  }
}
