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

/** How long a command of a person waits for a store that does not answer; a worker waits for ever. */
const PATIENCE_MS = 15_000;

type Work = (app: App) => Promise<ExitStatus> | Promise<void>;

type StoreCommand<A extends ArgumentSpecs, O extends OptionSpecs> = Omit<CommandDescription<A, O>, 'run'> & {
  readonly patienceMs?: number;
  /** Batches whose time is over are archived behind a command, unless it says that it changes nothing. */
  readonly archives?: boolean;
  /** What is wrong with the words typed is said here; the store is opened for what is returned. */
  run(context: CommandContext<A, O>): Work | Promise<Work>;
};

/** A command that needs the store. */
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

/** Who has a token of their own acts under its name. */
async function inOwnName(app: App): Promise<App> {
  if (app.config.token === null) return app;
  const { whoActs } = await import('../../operations/people/who.js');
  const person = await whoActs(app);
  return person === null ? app : app.as(person);
}

const LOOK_MS = 2_000;

/** Commands that only look say it as well. A store that does not answer is the command's own to report. */
async function warnOfFolder(app: App): Promise<void> {
  const looking = app.patient(0, LOOK_MS);
  for (const profile of app.config.profiles) {
    const problem = await recovery.folders.problem(looking.ledger(profile)).catch(() => null);
    if (problem !== null) app.logger.warn({ code: problem.code }, `${problem.message} ${problem.next}`);
  }
}

type Opening = {
  /** How long calls wait for a store that does not answer. */
  readonly patienceMs?: number | undefined;
  /** Whether batches that are old enough are archived in passing. */
  readonly archives?: boolean | undefined;
};

/** Opens what a command needs and closes it again, whatever happens in between. */
export async function withApp<T>(
  context: CommandBase,
  name: string,
  work: (app: App) => Promise<T>,
  { patienceMs = PATIENCE_MS, archives = true }: Opening = {},
): Promise<T> {
  const [config, logger] = await Promise.all([context.config(), context.logger()]);
  const app = await App.open({ config, logger, env: context.env, clientName: name, patienceMs });
  try {
    if (patienceMs === PATIENCE_MS) await warnOfFolder(app);
    const done = await work(await inOwnName(app));
    if (archives) await archiveInPassing(app);
    return done;
  } finally {
    await app.close();
  }
}
