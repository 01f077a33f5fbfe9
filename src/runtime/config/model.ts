import type { RealmProfile } from '../../core/profile.js';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What flags may set. Keys are no part of it: a key never comes from argv. */
export type ConfigFlags = {
  readonly config?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly dataFolder?: string | undefined;
  readonly reportsFolder?: string | undefined;
  readonly jobsFolder?: string | undefined;
};

/** Where a secret other than a realm's key is; like a key it is read when it is used. */
export type SecretSource =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string };

/** Who is told about a realm's halts, doubts and finished batches. */
export type Notifications = {
  readonly profile: string;
  /** JSON by POST; with a secret the body is signed. */
  readonly webhook: { readonly url: string; readonly secret: SecretSource | null } | null;
  /** A Discord webhook's URL is itself the secret. */
  readonly discord: SecretSource | null;
};

/** How long a sending process waits for what, and how large its journals may become. */
export type Limits = {
  /** BullMQ's lock on a delivery. Nothing safe rests on it; it only makes deliveries come again. */
  readonly lockMs: number;
  /** Work waiting and none taken for so long ends a worker. */
  readonly stalledMs: number;
  /** How long others may take to merge their journals before batches are shown as halted. */
  readonly mergePatienceMs: number;
  /** A realm that gives no definite answer for so long is halted. */
  readonly breakerHaltMs: number;
  /** How long a stop waits for what is being sent; null: the longest time-out of the realms and 10 s. */
  readonly stopMs: number | null;
  readonly journalMegabytes: number;
  /** A connection to the store on which a command waits for so long is given up, and a new one is made. */
  readonly storeAnswerMs: number;
};

export type Config = {
  /** The file that was read; null when there is none. */
  readonly configFile: string | null;
  /** null: a private Redis under the data folder. */
  readonly redisUrl: string | null;
  readonly dataFolder: string;
  readonly reportsFolder: string;
  readonly jobsFolder: string;
  readonly logLevel: LogLevel;
  /** Who did it, in the audit. */
  readonly operator: string;
  readonly profiles: readonly RealmProfile[];
  readonly notifications: readonly Notifications[];
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
