import { join } from 'node:path';
import { ConcurrencyLimit } from '../../core/concurrency-limit.js';
import { messageOf } from '../../core/errors/error.js';
import { findBatch } from '../../ledger/index.js';
import { AuditTrail } from '../../operations/people/audit.js';
import { Tokens } from '../../operations/people/tokens.js';
import type { App } from '../../runtime/app.js';
import type { Overview } from '../api/index.js';
import { changesBetween } from '../live/changes.js';
import { Live } from '../live/live.js';
import { OverviewBoard, type PictureTimes } from '../live/overview.js';
import { openNotices } from '../notify/notices.js';
import { Tasks } from '../tasks.js';
import { Guard, type Reached } from './access/guard.js';
import { Sessions } from './access/sessions.js';
import { WrongTokens } from './access/wrong-tokens.js';
import { UPLOAD_LIMITS, type UploadLimits, Uploads } from './uploads.js';

export type DeskOptions = {
  readonly version: string;
  /** The folder in which rule files are looked for. */
  readonly cwd: string;
  /** Aborts the reading of rules. */
  readonly stop: AbortSignal;
  /**
   * The one-time token printed at the start on loopback. Null where tokens are configured or the desk is open to a
   * network.
   */
  readonly localToken: string | null;
  /** The environment that holds the secrets of the notices. */
  readonly env?: NodeJS.ProcessEnv;
  readonly uploadLimits?: UploadLimits;
  /** Overrides of the default times in TIMES. */
  readonly times?: Partial<DeskTimes>;
};

/** How often and how long the desk looks, waits and sends. */
export type DeskTimes = {
  /** How long a page waits for a store that does not answer. A change waits as long as the desk itself. */
  readonly lookMs: number;
  /** How often live pages are sent changes. */
  readonly tickMs: number;
  /** How often a live connection checks that its session is still valid. */
  readonly heartbeatMs: number;
  /** How often the desk looks for alerts and sends messages. */
  readonly noticesMs: number;
} & PictureTimes;

const TIMES: DeskTimes = {
  lookMs: 3_000,
  tickMs: 1_000,
  heartbeatMs: 15_000,
  noticesMs: 2_000,
  sharedMs: 500,
  slowMs: 2_000,
};

/** The desk's services, made once. Every handler gets them. */
export type Desk = ReturnType<typeof openDesk>;

/** Makes the desk's services for an app. */
export function openDesk(app: App, options: DeskOptions) {
  const { version, cwd, stop } = options;
  const times = { ...TIMES, ...options.times };
  const looking = app.patient(times.lookMs, times.lookMs);
  const { scripts, logger } = looking;
  const tokens = new Tokens(scripts);
  const sessions = new Sessions(scripts);
  const audit = new AuditTrail(scripts);
  const wrongTokens = new WrongTokens({
    now: Date.now,
    async tell(what) {
      logger.warn(what);
      // The blank keeps this entry apart from a person: no token's name contains one.
      await audit
        .write({ who: 'a stranger', what, why: null, batch: null }, 'anyone')
        .catch((error: unknown) => logger.warn({ message: messageOf(error) }, 'the audit was not written'));
    },
  });
  const tasks = new Tasks(logger);
  const board = new OverviewBoard(looking, tasks, times);
  return {
    app,
    /** The same app with a short patience, for requests that only read. */
    looking,
    version,
    cwd,
    stop,
    /** Lets one request at a time read from the realm, so that pages cannot take the pace away from payments. */
    asking: new ConcurrencyLimit(1),
    explaining: new ConcurrencyLimit(1),
    /** Runs decisions one after the other, because the second one must see the effect of the first. */
    agreeing: new ConcurrencyLimit(1),
    tokens,
    sessions,
    guard: new Guard(tokens, sessions, wrongTokens, options.localToken),
    audit,
    wrongTokens,
    board,
    tasks,
    notices: openNotices(looking, { env: options.env ?? {}, lookEveryMs: times.noticesMs }),
    uploads: new Uploads(join(app.config.dataFolder, 'uploads'), options.uploadLimits ?? UPLOAD_LIMITS),
    live: new Live(
      {
        async overview() {
          const { overview } = await board.look();
          return { value: overview, essence: essenceOf(overview) };
        },
        changes: changesBetween,
        async batch(id) {
          const value = await board.describe(await findBatch(scripts, id));
          return { value, essence: JSON.stringify(value) };
        },
      },
      logger,
      times,
    ),
    /** Known only after the port is bound. */
    reached: NOT_YET,
  };
}

/** The snapshot without parts that change by themselves: clocks, latencies and the edge of an empty chart. */
function essenceOf(overview: Overview): string {
  const { at: _, store, ...rest } = overview;
  return JSON.stringify([store.up, rest], (key, value: unknown) => (key === 'endsAt' ? undefined : value));
}

const NOT_YET: Reached = { hosts: new Set(), origins: new Set(), cookie: { name: '', secure: true } };
