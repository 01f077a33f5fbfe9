import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { AlmonerError, messageOf } from '../core/errors/error.js';

/**
 * Server-sent events. One loop for all pages: while anybody listens it takes the picture once a second and
 * sends it to those whose picture has changed. Each client holds at most one unsent picture: a slow phone
 * gets the newest when it has caught up, and one that takes nothing at all is cut off. Nothing is kept for
 * clients that are gone, so a tab may stay open for days.
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

export type LiveSource = {
  /** A picture, and the same without what changes by itself: pages are told only of real changes. */
  overview(): Promise<{ readonly value: unknown; readonly essence: string }>;
  batch(id: string): Promise<{ readonly value: unknown; readonly essence: string }>;
};

const TICK_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const CLIENTS_MAX = 200;
const CLIENTS_PER_PERSON_MAX = 20;
/** More than this unsent, and the client has stopped reading. */
const UNSENT_BYTES_MAX = 4 * 2 ** 20;

type Line = LiveClient & { sent: Map<string, string>; beatAt: number };

export class Live {
  private readonly lines = new Set<Line>();
  private timer: NodeJS.Timeout | null = null;
  private ticking = false;

  constructor(
    private readonly source: LiveSource,
    private readonly logger: Logger,
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
    this.timer ??= setInterval(() => void this.tick(), TICK_MS);
    void this.tick();
  }

  close(): void {
    for (const line of this.lines) this.end(line, 'The desk is stopping.');
  }

  private async tick(): Promise<void> {
    if (this.ticking) return;
    this.ticking = true;
    try {
      await this.send('overview', [...this.lines], () => this.source.overview());
      for (const batch of new Set([...this.lines].map((line) => line.batch)))
        if (batch !== null)
          await this.send(
            'batch',
            [...this.lines].filter((line) => line.batch === batch),
            () => this.source.batch(batch),
          );
      for (const line of this.lines) await this.beat(line);
    } catch (error) {
      this.logger.warn({ message: messageOf(error) }, 'live pages were not told');
    } finally {
      this.ticking = false;
    }
  }

  private async send(
    event: string,
    lines: readonly Line[],
    look: () => Promise<{ readonly value: unknown; readonly essence: string }>,
  ): Promise<void> {
    if (lines.length === 0) return;
    const { value, essence } = await look();
    let text: string | undefined;
    for (const line of lines) {
      if (line.sent.get(event) === essence || line.out.writableNeedDrain) continue;
      text ??= `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
      line.sent.set(event, essence);
      line.out.write(text);
    }
  }

  private async beat(line: Line): Promise<void> {
    if (line.out.writableLength > UNSENT_BYTES_MAX) line.out.destroy();
    const now = performance.now();
    if (now - line.beatAt < HEARTBEAT_MS) return;
    line.beatAt = now;
    // A store that is away cannot say; nothing new is told meanwhile.
    if (!(await line.stillWelcome().catch(() => true))) this.end(line, 'The session is over.');
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
  }
}
