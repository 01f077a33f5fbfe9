import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { AlmonerError } from '../core/errors/error.js';
import type { TaskReply } from './api/index.js';
import { errorAnswer } from './error-reply.js';

/**
 * Changes that take longer than a request: retrying ten thousand orders, planning a rule at the realm's pace.
 * Each step of them is safe by itself in the ledger, so a desk that dies in the middle leaves nothing half
 * done; the person starts it again for the rest. Tasks live in this process and are forgotten with it.
 */
const RUNNING_MAX = 8;
const KEPT_MAX = 50;
const REFUSED_MAX = 100;

export type TaskWork = (progress: (done: number, total?: number | null) => void) => Promise<TaskEnd>;

type TaskEnd = {
  /** Where it is left out, what the last progress said. */
  readonly done?: number;
  readonly refused?: readonly { readonly order: string; readonly why: string }[];
  readonly batch?: string | null;
  readonly plan?: string | null;
  /** Looks what became of the orders that were put back to work; asked while somebody follows the task. */
  readonly watch?: Watch;
};

type Watch = () => Promise<NonNullable<TaskReply['became']>>;

export class Tasks {
  private readonly tasks = new Map<string, TaskReply>();
  private readonly watches = new Map<string, Watch>();
  private readonly under = new Set<Promise<void>>();

  constructor(private readonly logger: Logger) {}

  start(what: string, who: string, total: number | null, work: TaskWork): TaskReply {
    const running = [...this.tasks.values()].filter(({ state }) => state === 'running').length;
    if (running >= RUNNING_MAX)
      throw new AlmonerError(
        'ALM_DESK_BUSY',
        `${running} tasks are running already. This one was not started.`,
      );
    const task = randomBytes(9).toString('base64url');
    const begun: TaskReply = {
      task,
      what,
      who,
      state: 'running',
      total,
      done: 0,
      refused: [],
      refusedCount: 0,
      error: null,
      became: null,
      result: { batch: null, plan: null },
      startedAt: new Date().toISOString(),
      endedAt: null,
    };
    this.tasks.set(task, begun);
    this.forgetOldest();
    const run = this.run(begun, work).finally(() => this.under.delete(run));
    this.under.add(run);
    return begun;
  }

  list(): TaskReply[] {
    return [...this.tasks.values()].reverse();
  }

  /** The task as it is now, with what became of its orders since. */
  async look(task: string): Promise<TaskReply> {
    const found = this.find(task);
    const watch = this.watches.get(task);
    if (watch === undefined) return found;
    const now = { ...found, became: await watch() };
    this.tasks.set(task, now);
    return now;
  }

  private find(task: string): TaskReply {
    const found = this.tasks.get(task);
    if (found === undefined)
      throw new AlmonerError(
        'ALM_DESK_NOT_FOUND',
        'There is no such task; they are forgotten when the desk restarts.',
      );
    return found;
  }

  async settled(): Promise<void> {
    await Promise.all(this.under);
  }

  private async run(begun: TaskReply, work: TaskWork): Promise<void> {
    const { task } = begun;
    let now = begun;
    const change = (part: Partial<TaskReply>) => {
      now = { ...now, ...part };
      this.tasks.set(task, now);
    };
    const endedAt = () => new Date().toISOString();
    try {
      const {
        done,
        refused = [],
        batch = null,
        plan = null,
        watch,
      } = await work((done, total = now.total) => change({ done, total }));
      if (watch !== undefined) this.watches.set(task, watch);
      change({
        state: 'done',
        done: done ?? now.done,
        refused: refused.slice(0, REFUSED_MAX),
        refusedCount: refused.length,
        result: { batch, plan },
        endedAt: endedAt(),
      });
    } catch (thrown) {
      this.logger.warn({ task, err: thrown }, 'a task of the desk failed');
      const { code, message, next } = errorAnswer(thrown).body.error;
      change({ state: 'failed', error: { code, message, next }, endedAt: endedAt() });
    }
  }

  private forgetOldest(): void {
    for (const [id, { state }] of this.tasks)
      if (this.tasks.size > KEPT_MAX && state !== 'running') {
        this.tasks.delete(id);
        this.watches.delete(id);
      }
  }
}
