import type { Logger } from 'pino';
import type { Notice, Target } from './notice.js';

/**
 * Notices on their way to one target, one after the other. Of a batch only the newest progress waits; when
 * a target is away for long, the oldest notices are dropped rather than memory grown.
 */
const WAITING_MAX = 200;

export class Outbox {
  private waiting: Notice[] = [];
  private sending: Promise<void> = Promise.resolve();
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

  settled(): Promise<void> {
    return this.sending;
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
