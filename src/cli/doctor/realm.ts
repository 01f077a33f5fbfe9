import { isLoopbackUrl } from '../../core/base-url.js';
import { isAlmonerError } from '../../core/errors/error.js';
import { memberId } from '../../core/ids.js';
import type { RealmProfile } from '../../core/profile.js';
import { createRealmClient } from '../../realm/client/client.js';
import { keyWarnings, readKey } from '../../runtime/config/secrets.js';
import { registerSecret } from '../../runtime/redaction.js';
import { type Check, failed, ok, warning } from './machine.js';

/**
 * Warns of plain http beyond this machine, since every hop can read the key. It does not fail: some test realms have
 * no https.
 */
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

/** Checks that the key is where the profile says, and that other users of this machine cannot read it. */
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

/** A member id that hardly exists. A 404 for it proves that address, realm and key are right. */
const UNLIKELY_MEMBER = memberId('0');

/** Checks with one read that the realm answers at this address and accepts the key for this realm. */
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
        const result = await client.readMember(UNLIKELY_MEMBER);
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
