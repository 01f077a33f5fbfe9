import { join } from 'node:path';
import { Guard, type Reached } from './access/guard.js';
import { LoginLimit } from './access/login-limit.js';
import { Sessions } from './access/sessions.js';
import { Tokens } from './access/tokens.js';
import { AuditTrail } from './audit-trail.js';
import { batchReply } from './batch-page.js';
import { Live } from './live.js';
import { OverviewBoard } from './overview/overview.js';
import type { DeskParts } from './parts.js';
import { Tasks } from './tasks.js';
import { UPLOAD_LIMITS, type UploadLimits } from './upload-watch.js';
import { Uploads } from './uploads.js';

/** The desk's own things, made once; every handler is given them. */
export type Desk = {
  readonly parts: DeskParts;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly guard: Guard;
  readonly audit: AuditTrail;
  readonly board: OverviewBoard;
  readonly tasks: Tasks;
  readonly uploads: Uploads;
  readonly live: Live;
  /** Known once the port is bound. */
  reached: Reached;
};

export function openDesk(
  parts: DeskParts,
  options: {
    readonly localToken: string | null;
    readonly uploadLimits?: UploadLimits | undefined;
    readonly heartbeatMs?: number | undefined;
  },
): Desk {
  const { caller } = parts;
  const now = () => Date.now();
  const tokens = new Tokens(caller);
  const sessions = new Sessions(caller, now);
  const limit = new LoginLimit(now);
  const tasks = new Tasks(parts.logger);
  const board = new OverviewBoard(parts, tasks);
  return {
    parts,
    tokens,
    sessions,
    guard: new Guard({ tokens, sessions, limit, localToken: options.localToken }),
    audit: new AuditTrail(caller, now),
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
