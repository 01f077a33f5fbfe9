import { readStoreAddress } from '../redis/address.js';
import type { Config, SecretSource } from './model.js';

/** Every secret that can be known without reading a file, to register before the first line is logged. */
export function secretsOf(config: Config, env: NodeJS.ProcessEnv): readonly string[] {
  const sources: readonly (SecretSource | { readonly from: 'embedded' } | null)[] = [
    ...config.profiles.map((profile) => profile.key),
    ...config.notifications.flatMap((each) => [each.discord, each.webhook?.secret ?? null]),
  ];
  const fromEnvironment = sources.map((source) => (source?.from === 'env' ? env[source.name] : undefined));
  // The realm service takes its first key from here, also where no profile names the variable.
  return [...fromEnvironment, env.ALMONER_API_KEY, ...passwordsOf(config.redisUrl)]
    .map((secret) => secret?.trim() ?? '')
    .filter((secret) => secret !== '');
}

function passwordsOf(redisUrl: string | null): readonly string[] {
  const read = redisUrl === null ? undefined : readStoreAddress(redisUrl);
  if (read === undefined || !('address' in read)) return [];
  const { address } = read;
  const sentinel = address.form === 'sentinel' ? address.sentinelPassword : null;
  return [address.password, sentinel].filter((password) => password !== null);
}
