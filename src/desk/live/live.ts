import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { AlmonerError, messageOf } from '../../core/errors/error.js';

/**
 * Server-sent events. One clock for all pages: while anybody listens, each picture that somebody looks at is
 * taken at every tick and sent to those for whom it has changed. Pictures and lines fail alone: one that
 * cannot be taken holds up no other, nor the heartbeat that ends the line of a revoked token. Of the
 * overview only the first is told whole, then what changed. Each client holds at most one unsent picture: a slow phone gets
 * the newest, whole, when it has caught up, and one that takes nothing at all is cut off. Nothing is kept for clients that are gone, so a tab may stay open for days.
 */
export type LiveClient = {
  readonly out: ServerResponse;
  /** Whose page it is, for the bound on tabs. */
  readonly who: string;
  /** The batch this page looks at as well. */
  readonly batch: string | null;
  /** Asked with every heartbeat; false ends the line. */
  readonly stillWelcome: () => Promise<boolean>;
};

export type LiveSource<Overview> = {
  /** A picture, and the same without what changes by itself: pages are told only of real changes. */
  overview(): Promise<Picture<Overview>>;
  /** What of the overview is another than before. */
  changes(before: Overview, now: Overview): unknown;
  batch(id: string): Promise<Picture<unknown>>;
};

const CLIENTS_MAX = 200;
const CLIENTS_PER_PERSON_MAX = 20;
/** More than this unsent, and the client has stopped reading. */
const UNSENT_BYTES_MAX = 4 * 2 ** 20;

type Line = LiveClient & { sent: Map<string, string>; beatAt: number };
type Picture<Value> = { readonly value: Value; readonly essence: string };

export class Live<Overview> {
  private readonly lines = new Set<Line>();
  private timer: NodeJS.Timeout | null = null;
  /** The overview that was told last. */
  private shown: Picture<Overview> | null = null;
  /** Batches whose picture is being taken, null for the overview; and those that could not be taken. */
  private readonly looking = new Set<string | null>();
  private readonly failing = new Set<string | null>();

  constructor(
    private readonly source: LiveSource<Overview>,
    private readonly logger: Logger,
    private readonly times: { readonly tickMs: number; readonly heartbeatMs: number },
  ) {}

  get clients(): number {
    return this.lines.size;
  }

  /** Checked before the answer begins, while it can still be an error. */
  checkRoom(who: string): void {
    const own = [...this.lines].filter((line) => line.who === who).length;
    if (this.lines.size >= CLIENTS_MAX || own >= CLIENTS_PER_PERSON_MAX)
      throw new AlmonerError('ALM_DESK_BUSY', 'Too many live pages are open.');
  }

  add(client: LiveClient): void {
    const line: Line = { ...client, sent: new Map(), beatAt: performance.now() };
    this.lines.add(line);
    client.out.on('close', () => this.drop(line));
    client.out.on('error', () => this.drop(line));
    // Proxies that gather answers would hold back every event; the hint to retry is the browser's own pace.
    client.out.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    client.out.write('retry: 2000\n\n');
    this.timer ??= setInterval(() => this.tick(), this.times.tickMs);
    this.tick();
  }

  close(): void {
    for (const line of this.lines) this.end(line, 'The desk is stopping.');
  }

  private tick(): void {
    for (const line of this.lines) void this.beat(line);
    for (const batch of new Set([null, ...[...this.lines].map((line) => line.batch)])) void this.show(batch);
  }

  private async show(batch: string | null): Promise<void> {
    if (this.looking.has(batch)) return;
    this.looking.add(batch);
    try {
      if (batch === null) this.sendOverview(await this.source.overview());
      else {
        const picture = await this.source.batch(batch);
        const lines = [...this.lines].filter((line) => line.batch === batch);
        this.send('batch', picture, lines);
      }
      this.failing.delete(batch);
    } catch (error) {
      // The trouble is said once, not every second until the store is back.
      if (!this.failing.has(batch))
        this.logger.warn({ batch, message: messageOf(error) }, 'live pages were not told');
      this.failing.add(batch);
    } finally {
      this.looking.delete(batch);
    }
  }

  /** Whoever has the picture of before gets what changed; who is behind, or new, gets the whole. */
  private sendOverview(picture: Picture<Overview>): void {
    const { shown: before } = this;
    this.shown = picture;
    const following = [...this.lines].filter(
      (line) => before !== null && line.sent.get('overview') === before.essence,
    );
    if (before !== null && before.essence !== picture.essence && following.length > 0) {
      const { essence } = picture;
      const changes = { value: this.source.changes(before.value, picture.value), essence };
      this.send('changes', changes, following);
    }
    this.send('overview', picture, [...this.lines]);
  }

  private send(
    event: 'overview' | 'changes' | 'batch',
    { value, essence }: Picture<unknown>,
    lines: readonly Line[],
  ): void {
    const kind = event === 'changes' ? 'overview' : event;
    let text: string | undefined;
    for (const line of lines) {
      if (line.sent.get(kind) === essence || line.out.writableNeedDrain) continue;
      text ??= `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
      line.sent.set(kind, essence);
      line.out.write(text);
    }
  }

  private async beat(line: Line): Promise<void> {
    if (line.out.writableLength > UNSENT_BYTES_MAX) line.out.destroy();
    if (performance.now() - line.beatAt < this.times.heartbeatMs) return;
    // The next beat is due after this one's answer, so that a store that is away is not asked twice.
    line.beatAt = Number.POSITIVE_INFINITY;
    // A store that is away cannot say; nothing new is told meanwhile.
    const welcome = await line.stillWelcome().catch(() => true);
    line.beatAt = performance.now();
    if (!this.lines.has(line)) return;
    if (!welcome) this.end(line, 'The session is over.');
    // A client that has not drained for a whole heartbeat has stopped reading.
    else if (line.out.writableNeedDrain) line.out.destroy();
    else line.out.write(': still here\n\n');
  }

  private end(line: Line, why: string): void {
    line.out.end(`event: bye\ndata: ${JSON.stringify({ why })}\n\n`);
    this.drop(line);
  }

  private drop(line: Line): void {
    this.lines.delete(line);
    if (this.lines.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
    this.failing.clear();
  }
}
