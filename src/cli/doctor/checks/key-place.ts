import { isAlmonerError } from '../../../core/errors/error.js';
import type { RealmProfile } from '../../../core/profile.js';
import { keyWarnings, readKey } from '../../../runtime/config/key.js';
import { registerSecret } from '../../../runtime/redaction.js';
import { type Check, failed, ok, warning } from '../check.js';

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
