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
  /** Where rule files are looked for. */
  readonly cwd: string;
  /** Ends the reading of rules. */
  readonly stop: AbortSignal;
  /** Printed at the start on loopback; null where tokens are configured or the desk is open to a network. */
  readonly localToken: string | null;
  /** Where the secrets of notices stand. */
  readonly env?: NodeJS.ProcessEnv;
  readonly uploadLimits?: UploadLimits;
  /** Each is as in TIMES unless told otherwise. */
  readonly times?: Partial<DeskTimes>;
};

export type DeskTimes = {
  /** A page that loads waits so long for a store that does not answer. Changes wait as long as the desk itself. */
  readonly lookMs: number;
  /** Live pages are told of changes so often. */
  readonly tickMs: number;
  /** A live line is asked so often whether it is still welcome. */
  readonly heartbeatMs: number;
  /** Notices to the outside are looked for and sent so often. */
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

/** The desk's own things, made once; every handler is given them. */
export type Desk = ReturnType<typeof openDesk>;

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
      // A blank tells this from a person: no name of a token has one.
      await audit
        .write({ who: 'a stranger', what, why: null, batch: null }, 'anyone')
        .catch((error: unknown) => logger.warn({ message: messageOf(error) }, 'the audit was not written'));
    },
  });
  const tasks = new Tasks(logger);
  const board = new OverviewBoard(looking, tasks, times);
  return {
    app,
    /** The same for whoever only looks. */
    looking,
    version,
    cwd,
    stop,
    /** Reads of the realm, one at a time: however often somebody asks, payments keep most of the pace. */
    asking: new ConcurrencyLimit(1),
    explaining: new ConcurrencyLimit(1),
    /** What counts by who came first: looked at and done by one after the other. */
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
    /** Known once the port is bound. */
    reached: NOT_YET,
  };
}

/** A picture without what moves by itself: clocks, latencies, and the edge of an empty chart. */
function essenceOf(overview: Overview): string {
  const { at: _, store, ...rest } = overview;
  return JSON.stringify([store.up, rest], (key, value: unknown) => (key === 'endsAt' ? undefined : value));
}

const NOT_YET: Reached = { hosts: new Set(), origins: new Set(), cookie: { name: '', secure: true } };
