import { join } from 'node:path';
import { messageOf } from '../core/errors/error.js';
import { AuditTrail } from './audit-trail.js';
import type { DeskDeps } from './deps.js';
import { Guard, type Reached } from './http/access/guard.js';
import { Sessions } from './http/access/sessions.js';
import { Tokens } from './http/access/tokens.js';
import { WrongTokens } from './http/access/wrong-tokens.js';
import { UPLOAD_LIMITS, type UploadLimits } from './http/connections.js';
import { Uploads } from './http/uploads.js';
import { batchReply } from './live/batch-page.js';
import { Live } from './live/live.js';
import { OverviewBoard } from './live/overview.js';
import { Tasks } from './tasks.js';

/** The desk's own things, made once; every handler is given them. */
export type Desk = {
  readonly parts: DeskDeps;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly guard: Guard;
  readonly wrongTokens: WrongTokens;
  readonly audit: AuditTrail;
  readonly board: OverviewBoard;
  readonly tasks: Tasks;
  readonly uploads: Uploads;
  readonly live: Live;
  /** Known once the port is bound. */
  reached: Reached;
};

export function openDesk(
  parts: DeskDeps,
  options: {
    readonly localToken: string | null;
    readonly uploadLimits?: UploadLimits | undefined;
    readonly heartbeatMs?: number | undefined;
  },
): Desk {
  const { scripts } = parts;
  const now = () => Date.now();
  const tokens = new Tokens(scripts);
  const sessions = new Sessions(scripts, now);
  const audit = new AuditTrail(scripts, now);
  const wrongTokens = new WrongTokens({
    now,
    async tell(what) {
      parts.logger.warn(what);
      // No name of a token has a blank.
      await audit
        .write({ who: 'a stranger', what, why: null, batch: null }, 'anyone')
        .catch((error: unknown) =>
          parts.logger.warn({ message: messageOf(error) }, 'the audit was not written'),
        );
    },
  });
  const tasks = new Tasks(parts.logger);
  const board = new OverviewBoard(parts, tasks);
  return {
    parts,
    tokens,
    sessions,
    guard: new Guard({ tokens, sessions, wrongTokens, localToken: options.localToken }),
    audit,
    wrongTokens,
    board,
    tasks,
    uploads: new Uploads(join(parts.dataFolder, 'uploads'), options.uploadLimits ?? UPLOAD_LIMITS),
    live: new Live(
      {
        async overview() {
          const { overview } = await board.look();
          return { value: overview, essence: essenceOf(overview) };
        },
        async batch(id) {
          const value = await batchReply(parts, board, id);
          return { value, essence: JSON.stringify(value) };
        },
      },
      parts.logger,
      options.heartbeatMs,
    ),
    reached: NOT_YET,
  };
}

/** A picture without what moves by itself: clocks, latencies, and the edge of an empty chart. */
function essenceOf(overview: Awaited<ReturnType<OverviewBoard['look']>>['overview']): string {
  const { at: _, store, ...rest } = overview;
  return JSON.stringify([store.up, rest], (key, value: unknown) => (key === 'endsAt' ? undefined : value));
}

const NOT_YET: Reached = { hosts: new Set(), origins: new Set(), cookie: { name: '', secure: true } };
