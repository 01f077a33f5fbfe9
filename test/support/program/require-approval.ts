import type { Requirement } from '../../../src/core/people.js';
import type { App, OpenRealm } from '../../../src/runtime/app.js';

/**
 * Changes the profiles of a process so that one person alone may pay at most `approval`. It also changes realms that
 * are open.
 */
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
