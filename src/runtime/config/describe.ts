import { formatRate, type RealmProfile } from '../../core/profile.js';
import type { Config, Notifications, SecretSource } from './model.js';

/** One line of `almoner doctor`: a setting, its printable value, and where it came from. */
export type DescribedSetting = {
  readonly name: string;
  readonly value: string;
  readonly origin: string;
};

/** Describes every setting with its origin. Keys are described by their source; passwords inside URLs are masked. */
export function describeConfig(config: Config): readonly DescribedSetting[] {
  const origin = (name: string) => config.origins[name] ?? 'default';
  const setting = (name: string, value: string, from = name): DescribedSetting => ({
    name,
    value,
    origin: origin(from),
  });
  return [
    setting(
      'redisUrl',
      config.redisUrl === null ? 'private Redis in the data folder' : maskUrl(config.redisUrl),
    ),
    setting('dataFolder', config.dataFolder),
    setting('ephemeral', config.ephemeral ? 'yes' : 'no'),
    setting('stateFolder', config.stateFolder),
    setting('reportsFolder', config.reportsFolder),
    setting('jobsFolder', config.jobsFolder),
    setting('logLevel', config.logLevel),
    setting('operator', config.operator),
    setting('risks', config.risks.length === 0 ? 'none accepted' : config.risks.join(', ')),
    setting('retentionDays', String(config.retentionDays)),
    setting(
      'deadMan',
      config.deadMan === null ? 'no URL' : placeOf(config.deadMan),
      `deadMan.${config.deadMan?.from === 'file' ? 'urlFile' : 'urlEnv'}`,
    ),
    ...Object.entries(config.limits).map(([name, value]) =>
      setting(`limits.${name}`, value === null ? 'longest time-out and 10 s' : String(value)),
    ),
    ...config.profiles.flatMap((profile) => describeProfile(profile, setting)),
    ...config.notifications.flatMap((each) => describeNotifications(each, setting)),
  ];
}

type Setting = (name: string, value: string, from?: string) => DescribedSetting;

function describeProfile(profile: RealmProfile, setting: Setting): readonly DescribedSetting[] {
  const at = profile.rehearsal ? profile.name : `realms.${profile.name}`;
  const line = (name: string, value: string | number | null, from = name) =>
    setting(`${at}.${name}`, value === null ? 'none' : String(value), `${at}.${from}`);
  const block = (name: string, values: Readonly<Record<string, string | number>>) =>
    Object.entries(values).map(([key, value]) => line(`${name}.${key}`, value));
  return [
    line('baseUrl', maskUrl(profile.baseUrl)),
    line('realmId', profile.realmId),
    keyLine(profile, line),
    line('authScheme', profile.authScheme === '' ? 'the key alone' : profile.authScheme),
    line('realmPointId', profile.currency),
    line('currencies', profile.currencies.length === 0 ? null : profile.currencies.join(', ')),
    line('balancePath', profile.balancePath ?? 'the usual places'),
    line('recipientAs', profile.recipientAs),
    line('certainty', profile.certainty),
    line('rate', formatRate(profile.rate)),
    line('rateReserve', profile.rateReserve),
    ...block('timeouts', profile.timeouts),
    ...block('attempts', profile.attempts),
    ...block('statusOverrides', profile.statusOverrides),
    ...block('columns', profile.columns),
    line('timezone', profile.timezone),
    line('quietHours', profile.quietHours?.texts.join(', ') ?? null),
    line('approval.overTokens', profile.approval.overTokens),
    line('approval.overRows', profile.approval.overRows),
    line('afterRollback', profile.afterRollback),
    line('maxTokensPerOrder', profile.caps.maxTokensPerOrder),
    line('maxTokensPerBatch', profile.caps.maxTokensPerBatch),
    line('maxTokensPerDay', profile.caps.maxTokensPerDay),
    ...block('wallets', profile.wallets),
    line('settleMs', profile.settleMs),
    line('keyLifetimeMs', profile.keyLifetimeMs),
  ];
}

function keyLine(
  profile: RealmProfile,
  line: (name: string, value: string, from?: string) => DescribedSetting,
): DescribedSetting {
  const source = profile.key;
  if (source.from === 'embedded') return line('key', 'made by the embedded realm service');
  return line('key', placeOf(source), source.from === 'env' ? 'keyEnv' : 'keyFile');
}

function describeNotifications(each: Notifications, setting: Setting): readonly DescribedSetting[] {
  const at = each.profile === null ? 'notifications' : `realms.${each.profile}.notifications`;
  const secretLine = (name: string, source: SecretSource | null, env: string, file: string) =>
    source === null
      ? []
      : [setting(`${at}.${name}`, placeOf(source), `${at}.${source.from === 'env' ? env : file}`)];
  return [
    ...(each.webhook === null ? [] : [setting(`${at}.webhook.url`, webhookOrigin(each.webhook.url))]),
    ...secretLine('webhook.secret', each.webhook?.secret ?? null, 'webhook.secretEnv', 'webhook.secretFile'),
    ...secretLine('discord', each.discord, 'discord.urlEnv', 'discord.urlFile'),
    setting(`${at}.events`, each.events?.join(', ') ?? 'all'),
    setting(`${at}.holdMinutes`, String(each.holdMs / 60_000)),
  ];
}

export function placeOf(source: SecretSource): string {
  return source.from === 'env' ? `environment variable ${source.name}` : `file ${source.path}`;
}

/** Shows only the server, because the path of a webhook often is its password. */
function webhookOrigin(url: string): string {
  return `${new URL(url).origin}/***`;
}

/** Secrets inside printed values: passwords and tokens in URLs are masked, long values are cut. */

const SHOWN_MAX = 80;
const SECRET_PARAMETER = /([?&](?:[^=&#]*(?:pass|secret|token|key|auth)[^=&#]*)=)[^&#]*/gi;

/**
 * Works on text, not on a parsed URL: a mistyped URL or a list of Sentinel hosts does not parse, but must not reveal
 * its password. Everything up to the last `@` counts as user name and password.
 */
export function maskUrl(text: string): string {
  const at = text.lastIndexOf('@');
  if (at === -1) return text.replace(SECRET_PARAMETER, '$1***');
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? '';
  const colon = text.slice(scheme.length, at).indexOf(':');
  const user = colon === -1 ? '***' : `${text.slice(scheme.length, scheme.length + colon)}:***`;
  return `${scheme}${user}@${text.slice(at + 1)}`.replace(SECRET_PARAMETER, '$1***');
}

/** A value as a fault message quotes it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a block';
  if (typeof value !== 'string') return String(value);
  const masked = maskUrl(value);
  return JSON.stringify(masked.length > SHOWN_MAX ? `${masked.slice(0, SHOWN_MAX)}…` : masked);
}
