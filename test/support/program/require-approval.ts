import type { Requirement } from '../../../src/core/people.js';
import type { App, OpenRealm } from '../../../src/runtime/app.js';

/** From here on the profiles of a process let one person pay no more than this alone, also those of realms that are open. */
export async function requireApproval(
  app: App,
  approval: Requirement = { overTokens: 0, overRows: null },
): Promise<void> {
  const { config } = app;
  const profiles = config.profiles.map((profile) => ({ ...profile, approval }));
  const opened: { readonly opening: ReadonlyMap<string, Promise<OpenRealm>> } = Reflect.get(app, 'opened');
  Object.assign(opened, { config: { ...config, profiles } });
  for (const opening of opened.opening.values()) {
    const realm = await opening;
    Object.assign(realm, { profile: { ...realm.profile, approval } });
    Object.assign(realm.ledger, { asked: { ...realm.ledger.asked, requirement: approval } });
  }
}
