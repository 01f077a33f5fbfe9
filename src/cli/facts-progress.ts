import { duration, grouped } from '../words/spelling.js';

/** Progress of reading facts, on stderr: redrawn on a terminal, a plain line now and then elsewhere. */
const PLAIN_EVERY_MS = 2_000;
const REDRAW_EVERY_MS = 100;

export class FactsProgress {
  private nextAt = 0;
  private drawn = false;
  private first: { readonly at: number; readonly made: number } | undefined;

  constructor(
    private readonly stream: NodeJS.WriteStream,
    private readonly now: () => number = () => performance.now(),
  ) {}

  show(made: number, most: number): void {
    const at = this.now();
    this.first ??= { at, made: made - 1 };
    const last = made >= most;
    if (at < this.nextAt && !last) return;
    this.nextAt = at + (this.stream.isTTY === true ? REDRAW_EVERY_MS : PLAIN_EVERY_MS);
    const seconds = (at - this.first.at) / 1000;
    const perSecond = seconds > 0 ? (made - this.first.made) / seconds : 0;
    const left = perSecond > 0 && !last ? `, ${duration(((most - made) / perSecond) * 1000)} to go` : '';
    const line = `reading facts: ${grouped(made)} of ${grouped(most)} requests${left}`;
    if (this.stream.isTTY !== true) this.stream.write(`${line}\n`);
    else {
      this.stream.write(`\r\u001b[2K${line}`);
      this.drawn = true;
    }
  }

  end(): void {
    if (this.drawn) this.stream.write('\n');
    this.drawn = false;
  }
}
