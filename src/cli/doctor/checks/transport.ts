import { isLoopbackUrl } from '../../../core/base-url.js';
import type { RealmProfile } from '../../../core/profile.js';
import { type Check, ok, warning } from '../check.js';

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
