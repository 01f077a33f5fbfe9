import type { Logger } from 'pino';
import { messageOf } from '../../core/errors/error.js';
import { deskMessages, deskNotes, type ScriptClient } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import type { BatchSummary } from '../api/index.js';
import type { OverviewBoard } from '../live/overview.js';
import { eventsFor, keyOf, type Notice, storedTold, type Target, type Told, toldOf } from './notice.js';

/**
 * Looks at the batches of realms that want to be told, and tells what is new. The ledger is asked, not the
 * queue: it does not matter which process on which machine finished the last order.
 */
export type NotifierOptions = {
  readonly board: OverviewBoard;
  readonly told: ToldNotes;
  /** The channels of each realm, by its name. */
  readonly targets: ReadonlyMap<string, readonly Target[]>;
  readonly link: (batch: string) => string | null;
  readonly logger: Logger;
  readonly lookEveryMs?: number;
  /** Progress of one batch is told at most this often. */
  readonly progressEveryMs?: number;
};

/**
 * What was told of which batch, and the chat message that stands for it; gone with the batch. The two are apart
 * because another step writes the messages, and neither may overwrite the other's.
 */
export function toldNotes(scripts: ScriptClient) {
  return { batches: deskNotes(scripts, 'told', storedTold), messages: deskMessages(scripts) };
}
type ToldNotes = ReturnType<typeof toldNotes>;

const LOOK_MS = 2_000;
const PROGRESS_MS = 15_000;
/** A batch that ended longer ago, before anybody was told of it, is history and no news. */
const NEWS_MS = 10 * 60_000;

export class Notifier {
  private readonly outboxes: ReadonlyMap<string, readonly Outbox[]>;
  private readonly progressAt = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> | null = null;

  constructor(private readonly options: NotifierOptions) {
    this.outboxes = new Map(
      [...options.targets].map(([realm, targets]) => [
        realm,
        targets.map((target) => new Outbox(target, options.logger)),
      ]),
    );
    this.timer = setInterval(() => this.tick(), options.lookEveryMs ?? LOOK_MS).unref();
  }

  /** What is being sent is sent; the rest is told by the next desk, which knows what was told. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    await Promise.all([...this.outboxes.values()].flat().map(({ sending }) => sending));
  }

  private tick(): void {
    this.looking ??= this.look()
      .catch((error: unknown) =>
        this.options.logger.warn({ message: messageOf(error) }, 'notices could not be looked for'),
      )
      .finally(() => {
        this.looking = null;
      });
  }

  private async look(): Promise<void> {
    const { board, told } = this.options;
    const { overview, seen } = await board.look();
    if (!overview.store.up) return;
    const known = await told.batches.all();
    for (const batch of seen) {
      const { manifest, state } = batch.view;
      const before = known.get(keyOf(manifest)) ?? null;
      const now = toldOf({ ...batch.view, waiting: batch.waiting }, Date.now());
      const isQuiet = before !== null && isSame(before, now) && state !== 'running';
      if (isQuiet || !this.outboxes.has(manifest.realm)) continue;
      await this.tell(await board.summary(batch), before);
    }
    const there = new Set(seen.map(({ view }) => keyOf(view.manifest)));
    for (const key of known.keys())
      if (!there.has(key)) {
        this.progressAt.delete(key);
        await told.batches.forget(key);
        await told.messages.forget(key);
      }
  }

  private async tell(summary: BatchSummary, before: Told | null): Promise<void> {
    const now = Date.now();
    const standing = toldOf(summary, now);
    const isHistory =
      before === null && summary.finishedAt !== null && now - Date.parse(summary.finishedAt) > NEWS_MS;
    const events = isHistory ? [] : eventsFor(standing, before);
    for (const event of events) {
      if (event === 'progress' && before?.state === summary.state && !this.mayProgress(keyOf(summary), now))
        continue;
      const notice = { event, at: isoTime(now), batch: summary, link: this.options.link(summary.batch) };
      for (const outbox of this.outboxes.get(summary.realm) ?? []) outbox.put(notice);
    }
    if (before === null || !isSame(before, standing))
      await this.options.told.batches.put(keyOf(summary), standing);
  }

  private mayProgress(key: string, now: number): boolean {
    const last = this.progressAt.get(key) ?? 0;
    if (now - last < (this.options.progressEveryMs ?? PROGRESS_MS)) return false;
    this.progressAt.set(key, now);
    return true;
  }
}

function isSame(a: Told, b: Told): boolean {
  return a.state === b.state && a.doubts === b.doubts && a.lost === b.lost;
}

/**
 * Notices on their way to one target, one after the other. Of a batch only the newest progress waits; when
 * a target is away for long, the oldest notices are dropped rather than memory grown.
 */
const WAITING_MAX = 200;

class Outbox {
  private waiting: Notice[] = [];
  sending: Promise<void> = Promise.resolve();
  private busy = false;

  constructor(
    private readonly target: Target,
    private readonly logger: Logger,
  ) {}

  put(notice: Notice): void {
    if (!this.target.wants.includes(notice.event)) return;
    this.waiting = this.waiting.filter(
      ({ event, batch }) => event !== 'progress' || batch.batch !== notice.batch.batch,
    );
    this.waiting.push(notice);
    if (this.waiting.length > WAITING_MAX) {
      this.waiting.shift();
      this.logger.warn({}, 'a notice was dropped: its target has been away for too long');
    }
    if (!this.busy) this.sending = this.drain();
  }

  private async drain(): Promise<void> {
    this.busy = true;
    for (let notice = this.waiting.shift(); notice !== undefined; notice = this.waiting.shift())
      try {
        await this.target.send(notice);
      } catch {
        // Whatever it was may quote the secret address; the target has logged what can be said.
        this.logger.warn({ event: notice.event, batch: notice.batch.batch }, 'a notice was not sent');
      }
    this.busy = false;
  }
}
