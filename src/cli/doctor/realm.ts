import { isLoopbackUrl } from '../../core/base-url.js';
import { isAlmonerError } from '../../core/errors/error.js';
import { memberId } from '../../core/ids.js';
import type { RealmProfile } from '../../core/profile.js';
import { createRealmClient } from '../../realm/client/client.js';
import { keyWarnings, readKey } from '../../runtime/config/secrets.js';
import { registerSecret } from '../../runtime/redaction.js';
import { type Check, failed, ok, warning } from './machine.js';

/** Plain http beyond this machine shows the key to everybody on the way. Some test realms have nothing else. */
export function transport(profile: RealmProfile): Check {
  return {
    name: `realm ${profile.name}: transport`,
    async run() {
      if (profile.rehearsal) return ok('the embedded realm service, on this machine only');
      if (profile.baseUrl.startsWith('https://')) return ok('https');
      if (isLoopbackUrl(profile.baseUrl)) return ok('http, on this machine only');
      return warning(
        `${profile.baseUrl} is plain http: the key travels readable`,
        'Use the https address of the realm.',
      );
    },
  };
}

/** The key is where the profile says, and nobody else on this machine can read it. */
export function keyPlace(profile: RealmProfile, env: NodeJS.ProcessEnv): Check {
  return {
    name: `realm ${profile.name}: key`,
    async run() {
      if (profile.key.from === 'embedded') return ok('made by the embedded realm service');
      try {
        registerSecret(readKey(profile.key, env));
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
      const [open] = keyWarnings(profile.key);
      return open === undefined
        ? ok('found')
        : warning(open, 'Take the rights of others away from the file.');
    },
  };
}

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
