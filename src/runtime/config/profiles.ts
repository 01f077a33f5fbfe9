import type { ErrorCode } from '../../core/errors/catalogue.js';
import { AlmonerError } from '../../core/errors/error.js';
import type { Requirement } from '../../core/people.js';
import type { Certainty, Rate, RealmProfile } from '../../core/profile.js';
import type { Config, Notifications, SecretSource } from './model.js';
import {
  DEFAULT_HOLD_MINUTES,
  type ParsedNotifications,
  type ParsedRealm,
  realmSchema,
} from './realm-settings.js';

/** Makes a written path absolute. The setting's name says what the path is relative to. */
type ResolveSetting = (setting: string, text: string) => string;

/** Builds a realm's profile from its parsed settings. */
export function profileOf(name: string, realm: ParsedRealm, resolve: ResolveSetting): RealmProfile {
  const { keyEnv = '', keyFile, realmPointId, notifications: _, ...settings } = realm;
  const { maxTokensPerOrder, maxTokensPerBatch, maxTokensPerDay, approval, quietHours, ...taken } = settings;
  return {
    ...taken,
    name,
    rehearsal: false,
    key:
      keyFile === undefined
        ? { from: 'env', name: keyEnv }
        : { from: 'file', path: resolve('keyFile', keyFile) },
    currency: realmPointId,
    caps: { maxTokensPerOrder, maxTokensPerBatch, maxTokensPerDay },
    approval: requirementOf(approval),
    quietHours:
      quietHours.length === 0
        ? null
        : {
            zone: realm.timezone,
            texts: quietHours.map(({ text }) => text),
            spans: quietHours.flatMap(({ spans }) => spans),
          },
  };
}

/** A block that names neither limit always requires a second person. */
function requirementOf(approval: ParsedRealm['approval']): Requirement {
  if (approval === undefined) return { overTokens: null, overRows: null };
  const { overTokens, overRows } = approval;
  return overTokens === null && overRows === null ? { overTokens: 0, overRows: null } : approval;
}

/** The profile of the embedded realm service. It honours idempotency keys and has no rate limit of its own. */
export function embeddedProfile(settings: {
  readonly rate?: Rate | null | undefined;
  readonly certainty?: Certainty | undefined;
}): RealmProfile {
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

/** The notification settings of a profile; for null those of the file's top level. */
export function notificationsOf(
  profile: string | null,
  given: ParsedNotifications | undefined,
  resolve: ResolveSetting,
): readonly Notifications[] {
  if (given === undefined) return [];
  const { webhook, discord, events = null, holdMinutes } = given;
  const secret = (setting: string, env?: string, file?: string) =>
    secretAt(env, file, (text) => resolve(`notifications.${setting}`, text));
  return [
    {
      profile,
      webhook:
        webhook === undefined
          ? null
          : { url: webhook.url, secret: secret('webhook.secretFile', webhook.secretEnv, webhook.secretFile) },
      discord: secret('discord.urlFile', discord?.urlEnv, discord?.urlFile),
      events,
      holdMs: holdMinutes * MINUTE_MS,
    },
  ];
}

const MINUTE_MS = 60_000;

/** How long a hold of the realm may last before it is notified. */
export function holdMsOf({ notifications }: Pick<Config, 'notifications'>, realm: string): number {
  const of = (profile: string | null) => notifications.find((each) => each.profile === profile);
  return (of(realm) ?? of(null))?.holdMs ?? DEFAULT_HOLD_MINUTES * MINUTE_MS;
}

/** The source of a secret, from the two settings that can name it; null if neither does. */
export function secretAt(
  env: string | undefined,
  file: string | undefined,
  resolve: (text: string) => string,
): SecretSource | null {
  if (env !== undefined) return { from: 'env', name: env };
  return file === undefined ? null : { from: 'file', path: resolve(file) };
}

/** The realm of a command: the named one, or the only one. */
export function pickProfile(config: Config, realm?: string): RealmProfile {
  const known = config.profiles.map(({ name, realmId, baseUrl, key }) =>
    key.from === 'embedded'
      ? `${name}: the embedded realm service, for rehearsals`
      : `${name}: realm ${realmId} at ${baseUrl}`,
  );
  const refuse = (code: ErrorCode, what: string) =>
    new AlmonerError(code, `${what} Nothing was done.`, { details: known });
  if (realm === undefined) {
    const [only, ...others] = config.profiles;
    if (only !== undefined && others.length === 0) return only;
    const what = `${config.profiles.length} realms are configured and none was chosen.`;
    throw refuse('ALM_CONFIG_REALM_AMBIGUOUS', what);
  }
  const named = config.profiles.find((profile) => profile.name === realm);
  const [first, ...more] =
    named === undefined ? config.profiles.filter((profile) => profile.realmId === realm) : [named];
  const given = JSON.stringify(realm);
  if (first === undefined)
    throw refuse('ALM_CONFIG_REALM_UNKNOWN', `No configured realm has the name or id ${given}.`);
  if (more.length > 0)
    throw refuse('ALM_CONFIG_REALM_AMBIGUOUS', `Realm id ${given} is configured at more than one base URL.`);
  return first;
}
