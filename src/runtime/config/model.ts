import type { NoticeEvent } from '../../core/notice-events.js';
import type { KeySource, RealmProfile } from '../../core/profile.js';
import type { Limits, LogLevel } from './settings.js';

/** The settings that flags can set. Keys are not among them: a key never comes from argv. */
export type ConfigFlags = {
  readonly config?: string | undefined;
  readonly logLevel?: string | undefined;
};

/** The source of a secret other than a realm's key. Like a key it is read when it is used. */
export type SecretSource = Exclude<KeySource, { from: 'embedded' }>;

/** Who is notified about a realm's batches, schedules and holds. */
export type Notifications = {
  /** Null: realms without settings of their own, and events of no realm. */
  readonly profile: string | null;
  /** JSON by POST. With a secret, the body is signed. */
  readonly webhook: { readonly url: string; readonly secret: SecretSource | null } | null;
  /** A Discord webhook's URL is itself the secret. */
  readonly discord: SecretSource | null;
  /** Null: all events. */
  readonly events: readonly NoticeEvent[] | null;
  readonly holdMs: number;
};

/** The whole configuration after all layers and checks. */
export type Config = {
  /** The file that was read; null if there is none. */
  readonly configFile: string | null;
  /** Null: a private Redis under the data folder. */
  readonly redisUrl: string | null;
  readonly dataFolder: string;
  /** True if the data folder disappears with its process. */
  readonly ephemeral: boolean;
  /** The folder with the witnesses of data folders. */
  readonly stateFolder: string;
  readonly reportsFolder: string;
  readonly jobsFolder: string;
  readonly logLevel: LogLevel;
  /** The name of the acting person, for the audit. */
  readonly operator: string;
  /** The source of the acting person's token. */
  readonly token: SecretSource | null;
  readonly profiles: readonly RealmProfile[];
  readonly notifications: readonly Notifications[];
  /**
   * A URL to call after each good round of the schedules. A person who knows it can report that all is well, so it is
   * a secret.
   */
  readonly deadMan: SecretSource | null;
  /** Store risks that an operator accepted by name, e.g. `no-append-only`. An unknown name accepts nothing. */
  readonly risks: readonly string[];
  readonly retentionDays: number;
  readonly limits: Limits;
  /** The source of each setting that is not a default, by its dotted name. */
  readonly origins: Readonly<Record<string, string>>;
};

/** Where a value came from, for faults and `almoner doctor`. */
export type Origin =
  | { readonly from: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly from: 'environment'; readonly name: string }
  | { readonly from: 'flag'; readonly name: string };

export type SettingPath = readonly string[];

/** The origin of a value in words, for faults. */
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
