import { AlmonerError } from '../../core/errors/error.js';
import type { Certainty, KeySource, Rate, RealmProfile } from '../../core/profile.js';
import type { Config, Notifications, SecretSource } from './model.js';
import { type ParsedRealm, realmSchema } from './settings.js';

/** Turns a path as it was written into an absolute one; the setting's name says what it is relative to. */
export type ResolveSetting = (setting: string, text: string) => string;

export function profileOf(name: string, realm: ParsedRealm, resolve: ResolveSetting): RealmProfile {
  const { maxTokensPerOrder, maxTokensPerBatch, maxTokensPerDay } = realm;
  return {
    name,
    baseUrl: realm.baseUrl,
    realmId: realm.realmId,
    rehearsal: false,
    key: keySource(realm, resolve),
    authScheme: realm.authScheme,
    currency: realm.realmPointId,
    balancePath: realm.balancePath,
    recipientAs: realm.recipientAs,
    certainty: realm.certainty,
    rate: realm.rate,
    rateReserve: realm.rateReserve,
    timeouts: realm.timeouts,
    attempts: realm.attempts,
    statusOverrides: realm.statusOverrides,
    caps: { maxTokensPerOrder, maxTokensPerBatch, maxTokensPerDay },
    wallets: realm.wallets,
    settleMs: realm.settleMs,
    keyLifetimeMs: realm.keyLifetimeMs,
  };
}

/** The realm service that almoner starts itself: it honours keys and has no limit of its own. */
export function embeddedProfile(settings: { rate?: Rate | null; certainty?: Certainty }): RealmProfile {
  const usual = realmSchema.parse({ baseUrl: 'http://127.0.0.1', realmId: 'embedded' });
  return {
    ...profileOf('embedded', usual, (_, text) => text),
    baseUrl: 'embedded:',
    rehearsal: true,
    key: { from: 'embedded' },
    certainty: settings.certainty ?? 'idempotent',
    rate: settings.rate ?? null,
  };
}

export function notificationsOf(
  profile: string,
  realm: ParsedRealm,
  resolve: ResolveSetting,
): readonly Notifications[] {
  if (realm.notifications === undefined) return [];
  const { webhook, discord } = realm.notifications;
  return [
    {
      profile,
      webhook: webhook
        ? {
            url: webhook.url,
            secret: secret(webhook.secretEnv, webhook.secretFile, (text) =>
              resolve('notifications.webhook.secretFile', text),
            ),
          }
        : null,
      discord: secret(discord?.urlEnv, discord?.urlFile, (text) =>
        resolve('notifications.discord.urlFile', text),
      ),
    },
  ];
}

/** The realm a command works on: the one that was named, or the only one there is. */
export function pickProfile(config: Config, realm?: string): RealmProfile {
  const known = config.profiles.map(({ name, realmId, baseUrl, key }) =>
    key.from === 'embedded'
      ? `${name}: the embedded realm service, for rehearsals`
      : `${name}: realm ${realmId} at ${baseUrl}`,
  );
  if (realm === undefined) {
    const [only, ...others] = config.profiles;
    if (only !== undefined && others.length === 0) return only;
    throw new AlmonerError(
      'ALM_CONFIG_REALM_AMBIGUOUS',
      `${config.profiles.length} realms are configured and none was chosen. Nothing was done.`,
      { details: known },
    );
  }
  const named = config.profiles.find((profile) => profile.name === realm);
  if (named !== undefined) return named;
  const matching = config.profiles.filter((profile) => profile.realmId === realm);
  if (matching.length === 1 && matching[0] !== undefined) return matching[0];
  if (matching.length > 1)
    throw new AlmonerError(
      'ALM_CONFIG_REALM_AMBIGUOUS',
      `Realm id ${JSON.stringify(realm)} is configured at more than one base URL. Nothing was done.`,
      { details: known },
    );
  throw new AlmonerError(
    'ALM_CONFIG_REALM_UNKNOWN',
    `No configured realm has the name or id ${JSON.stringify(realm)}. Nothing was done.`,
    { details: known },
  );
}

function keySource(realm: ParsedRealm, resolve: ResolveSetting): KeySource {
  if (realm.keyFile !== undefined) return { from: 'file', path: resolve('keyFile', realm.keyFile) };
  return { from: 'env', name: realm.keyEnv ?? '' };
}

function secret(
  env: string | undefined,
  file: string | undefined,
  resolve: (text: string) => string,
): SecretSource | null {
  if (env !== undefined) return { from: 'env', name: env };
  return file === undefined ? null : { from: 'file', path: resolve(file) };
}
