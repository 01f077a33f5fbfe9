import { archiveInPassing } from '../../operations/services/archive.js';
import { App } from '../../runtime/app.js';
import type { CommandBase } from './command.js';

/** How long a command of a person waits for a store that does not answer; a worker waits for ever. */
const PATIENCE_MS = 15_000;

/** Opens what a command needs and closes it again, whatever happens in between. */
export async function withApp<T>(
  context: CommandBase,
  name: string,
  work: (app: App) => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const [config, logger] = await Promise.all([context.config(), context.logger()]);
  const app = await App.open({ config, logger, env: context.env, clientName: name, patienceMs });
  try {
    const done = await work(app);
    await archiveInPassing(app);
    return done;
  } finally {
    await app.close();
  }
}
