import { memberId } from '../../../core/ids.js';
import type { RealmProfile } from '../../../core/profile.js';
import { createRealmClient } from '../../../realm/client/client.js';
import { readKey } from '../../../runtime/config/key.js';
import { type Check, failed, ok, warning } from '../check.js';

/** A member that hardly exists: a 404 for it proves that address, realm and key are right. */
const NOBODY = memberId('0');

/** The realm answers at this address, knows the key, and the key is this realm's. One read. */
export function realmAnswers(profile: RealmProfile, env: NodeJS.ProcessEnv): Check {
  return {
    name: `realm ${profile.name}: answers`,
    async run() {
      if (profile.key.from === 'embedded') return ok('served by almoner itself');
      const client = createRealmClient({
        profile,
        baseUrl: profile.baseUrl,
        readKey: () => readKey(profile.key, env),
      });
      try {
        const result = await client.readMember(NOBODY);
        if (result.ok || result.error.code === 'ALM_REALM_MEMBER_NOT_FOUND')
          return ok(`${profile.baseUrl} knows the key and the realm`);
        const told = `${result.error.message} [${result.error.code}]`;
        return result.error.code === 'ALM_REALM_RATE_LIMITED'
          ? warning(told, result.error.next)
          : failed(told, result.error.next);
      } finally {
        await client.close();
      }
    },
  };
}
