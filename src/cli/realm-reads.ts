import type { RealmProfile } from '../core/profile.js';
import { App } from '../runtime/app.js';
import { type PacedReads, pacedReads } from '../runtime/paced-reads.js';
import type { CommandBase, ExitStatus } from './frame/command.js';

/** A command that only asks has a person waiting; a store that stays away is told soon. */
const PATIENCE_MS = 10_000;

/** Opens the command's realm for reading, and closes everything again whatever happens. */
export async function withRealmReads(
  context: CommandBase,
  clientName: string,
  use: (reads: PacedReads, profile: RealmProfile) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const [config, profile, logger] = [await context.config(), await context.profile(), await context.logger()];
  const app = await App.open({ config, logger, env: context.env, clientName, patienceMs: PATIENCE_MS });
  try {
    return await use(pacedReads(await app.realm(profile)), profile);
  } finally {
    await app.close();
  }
}

export function realmTitle({ name, realmId, baseUrl, rehearsal }: RealmProfile): string {
  return rehearsal ? `REHEARSAL: realm ${name}` : `realm ${name} (${realmId} at ${baseUrl})`;
}
