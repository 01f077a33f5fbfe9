import type { WriteOutcome } from '../../core/classify.js';
import { formatRate, type Rate } from '../../core/profile.js';
import { openCount } from '../../core/states.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import type { BatchView } from '../../ledger/index.js';
import { duration, grouped } from '../../words/spelling.js';
import type { Sink } from './output.js';

/** One line on stderr: redrawn on a terminal, a plain line now and then where there is none. */
class LiveLine {
  readonly #stream: Sink;
  readonly #isTerminal: boolean;
  readonly #everyMs: number;
  #nextAt = 0;
  #drawn = false;

  constructor(stream: Sink, every: { readonly drawnMs: number; readonly plainMs: number }) {
    this.#stream = stream;
    this.#isTerminal = stream.isTTY === true;
    this.#everyMs = this.#isTerminal ? every.drawnMs : every.plainMs;
  }

  show(line: string, isLast = false): void {
    const at = performance.now();
    if (at < this.#nextAt && !isLast) return;
    this.#nextAt = at + this.#everyMs;
    if (!this.#isTerminal) this.#stream.write(`${line}\n`);
    else {
      const width = Math.max(20, this.#stream.columns ?? 80);
      this.#stream.write(`\r\u001b[2K${line.slice(0, width - 1)}`);
      this.#drawn = true;
    }
  }

  /** Leaves the last line standing. */
  end(): void {
    if (this.#drawn) this.#stream.write('\n');
    this.#drawn = false;
  }
}

const BAR_CELLS = 24;
const RECENT_MS = 30_000;

/** The line of a batch. Rate and time to go come from the last half minute, so that a pause or a slow start does not lie. */
export class Progress extends LiveLine {
  private readonly recent: { at: number; settled: number; requests: number }[] = [];

  constructor(
    stderr: Sink,
    private readonly rate: Rate | null,
  ) {
    super(stderr, { drawnMs: 0, plainMs: 5_000 });
  }

  showBatch(view: BatchView, lastTrouble: WriteOutcome | null, waiting: readonly Waiting[]): void {
    const { counts, manifest } = view;
    const open = openCount(counts);
    const settled = manifest.rows - open;
    const share = manifest.rows === 0 ? 1 : settled / manifest.rows;
    const filled = Math.round(share * BAR_CELLS);
    const { perSecond, requestsPerSecond } = this.pace(settled, view.requests);
    const [first] = waiting.filter(({ why }) => why !== 'doubt');
    // What it did while it stood still says nothing of how fast it goes on.
    if (first !== undefined) this.recent.length = 0;
    const seconds = etaSeconds({ state: view.state, open, perSecond, waiting, nowMs: Date.now() });
    const bad = (counts.refused ?? 0) + (counts.exhausted ?? 0);
    const words = [
      `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)} ${Math.floor(share * 100)}%`,
      `${grouped(settled)}/${grouped(manifest.rows)}`,
      // Before the numbers, which stand still meanwhile: a narrow terminal cuts the end off.
      ...(first === undefined ? [] : [waitingWords(first)]),
      `paid ${grouped(counts.paid ?? 0)}`,
      ...(bad > 0 ? [`failed ${grouped(bad)}`] : []),
      ...((counts.unknown ?? 0) > 0 ? [`unknown ${grouped(counts.unknown ?? 0)}`] : []),
      ...((counts.doubt ?? 0) > 0 ? [`doubt ${grouped(counts.doubt ?? 0)}`] : []),
      `${requestsPerSecond < 10 ? `${(requestsPerSecond * 60).toFixed(0)}/min` : `${requestsPerSecond.toFixed(0)}/s`} of ${formatRate(this.rate)}`,
      ...(seconds !== null && seconds > 0 ? [`${duration(seconds * 1000)} to go`] : []),
      ...(lastTrouble?.code == null ? [] : [`last: ${lastTrouble.code}`]),
    ];
    this.show(words.join('  '));
  }

  private pace(settled: number, requests: number): { perSecond: number; requestsPerSecond: number } {
    const at = performance.now();
    this.recent.push({ at, settled, requests });
    while (this.recent.length > 2 && at - (this.recent[0]?.at ?? at) > RECENT_MS) this.recent.shift();
    const first = this.recent[0];
    const seconds = first === undefined ? 0 : (at - first.at) / 1000;
    if (first === undefined || seconds <= 0) return { perSecond: 0, requestsPerSecond: 0 };
    return {
      perSecond: (settled - first.settled) / seconds,
      requestsPerSecond: (requests - first.requests) / seconds,
    };
  }
}

function waitingWords({ why, orders, since, until, message }: Waiting): string {
  const end = until === null ? '' : `, until ${until.slice(11, 19)} UTC`;
  return `${grouped(orders)} wait (${why} since ${since.slice(11, 19)} UTC${end}): ${message}`;
}

/** The line while the facts of a rule are read. */
export class FactsProgress extends LiveLine {
  private first: { readonly at: number; readonly made: number } | undefined;

  constructor(stderr: Sink) {
    super(stderr, { drawnMs: 100, plainMs: 2_000 });
  }

  showRead(made: number, most: number): void {
    const at = performance.now();
    this.first ??= { at, made: made - 1 };
    const isLast = made >= most;
    const seconds = (at - this.first.at) / 1000;
    const perSecond = seconds > 0 ? (made - this.first.made) / seconds : 0;
    const left = perSecond > 0 && !isLast ? `, ${duration(((most - made) / perSecond) * 1000)} to go` : '';
    this.show(`reading facts: ${grouped(made)} of ${grouped(most)} requests${left}`, isLast);
  }
}
