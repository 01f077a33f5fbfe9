import type { NoticeEvent } from '../../core/notice-events.js';
import type { KeySource, RealmProfile } from '../../core/profile.js';
import type { Limits, LogLevel } from './settings.js';

/** What flags may set. Keys are no part of it: a key never comes from argv. */
export type ConfigFlags = {
  readonly config?: string | undefined;
  readonly logLevel?: string | undefined;
};

/** Where a secret other than a realm's key is; like a key it is read when it is used. */
export type SecretSource = Exclude<KeySource, { from: 'embedded' }>;

/** Who is told of what a realm's batches, schedules and holds come to. */
export type Notifications = {
  /** null: realms without their own, and what belongs to none. */
  readonly profile: string | null;
  /** JSON by POST; with a secret the body is signed. */
  readonly webhook: { readonly url: string; readonly secret: SecretSource | null } | null;
  /** A Discord webhook's URL is itself the secret. */
  readonly discord: SecretSource | null;
  /** null: all. */
  readonly events: readonly NoticeEvent[] | null;
  readonly holdMs: number;
};

export type Config = {
  /** The file that was read; null when there is none. */
  readonly configFile: string | null;
  /** null: a private Redis under the data folder. */
  readonly redisUrl: string | null;
  readonly dataFolder: string;
  /** The data folder is gone with its process. */
  readonly ephemeral: boolean;
  /** Where the witnesses of data folders are. */
  readonly stateFolder: string;
  readonly reportsFolder: string;
  readonly jobsFolder: string;
  readonly logLevel: LogLevel;
  /** Who did it, in the audit. */
  readonly operator: string;
  /** Where the token of whoever gives the command is. */
  readonly token: SecretSource | null;
  readonly profiles: readonly RealmProfile[];
  readonly notifications: readonly Notifications[];
  /** A URL that is called after each good round of the schedules; whoever knows it can say that all is well. */
  readonly deadMan: SecretSource | null;
  /** Store risks that an operator accepted by name, e.g. `no-append-only`. A name nobody asks for accepts nothing. */
  readonly risks: readonly string[];
  readonly retentionDays: number;
  readonly limits: Limits;
  /** Where each setting that is not a default came from, by its dotted name. */
  readonly origins: Readonly<Record<string, string>>;
};

/** The place a value came from, to name in a fault and in `almoner doctor`. */
export type Origin =
  | { readonly from: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly from: 'environment'; readonly name: string }
  | { readonly from: 'flag'; readonly name: string };

export type SettingPath = readonly string[];

export function originText(origin: Origin): string {
  switch (origin.from) {
    case 'file':
      return `${origin.file}:${origin.line}`;
    case 'environment':
      return `environment ${origin.name}`;
    case 'flag':
      return `flag ${origin.name}`;
  }
}
