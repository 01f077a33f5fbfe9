import type { WriteOutcome } from '../../core/classify.js';
import type { WaitingWhy } from '../../core/may-send.js';
import type { Rate } from '../../core/profile.js';
import { openCount } from '../../core/states.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import type { BatchView } from '../../ledger/index.js';
import { allowedWords, counted, duration, grouped, usedWords } from '../../words/spelling.js';
import { settledRows } from '../../words/states.js';
import type { Sink } from './output.js';

/** One line on stderr. A terminal redraws it; elsewhere a plain line is written now and then. */
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

  /** Ends the line and leaves its last text visible. */
  end(): void {
    if (this.#drawn) this.#stream.write('\n');
    this.#drawn = false;
  }
}

/** Reasons of waiting for which no order of the batch is sent. */
const STANDSTILLS: ReadonlySet<WaitingWhy | undefined> = new Set([
  'no-worker',
  'paused',
  'halted',
  'disarmed',
  'breaker',
  'hold',
]);

const BAR_CELLS = 24;
const RECENT_MS = 30_000;

/**
 * The progress line of a batch. Rate and remaining time use the last half minute, so that an earlier pause or a slow
 * start does not distort them.
 */
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
    const { rows } = manifest;
    const settled = settledRows({ rows, counts });
    const share = rows === 0 ? 1 : settled / rows;
    const filled = Math.round(share * BAR_CELLS);
    const { perSecond, requestsPerSecond } = this.pace(rows - open, view.requests);
    const first = firstOf(waiting);
    // A standstill says nothing about later speed, so that it resets the samples. Short holds recur, and do not reset
    // them.
    if (first !== undefined && !isShort(first)) this.recent.length = 0;
    const seconds = etaSeconds({ state: view.state, open, perSecond, waiting, nowMs: Date.now() });
    const bad = (counts.refused ?? 0) + (counts.exhausted ?? 0);
    const words = [
      `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)} ${Math.floor(share * 100)}%`,
      `${grouped(settled)}/${grouped(rows)}`,
      // Shown before the numbers, because a narrow terminal cuts the end off.
      ...(first === undefined ? [] : [waitingWords(first)]),
      `paid ${grouped(counts.paid ?? 0)}`,
      ...(bad > 0 ? [`failed ${grouped(bad)}`] : []),
      ...((counts.unknown ?? 0) > 0 ? [`unknown ${grouped(counts.unknown ?? 0)}`] : []),
      ...((counts.doubt ?? 0) > 0 ? [`doubt ${grouped(counts.doubt ?? 0)}`] : []),
      // A batch that stands still has no rate. The line shows the reason instead.
      ...(STANDSTILLS.has(first?.why) ? [] : [this.rateWords(requestsPerSecond)]),
      ...(seconds !== null && seconds > 0 ? [`${duration(seconds * 1000)} to go`] : []),
      ...(lastTrouble?.code == null ? [] : [`last: ${lastTrouble.code}`]),
    ];
    this.show(words.join('  '));
  }

  private rateWords(requestsPerSecond: number): string {
    const used = usedWords(requestsPerSecond, this.rate);
    return this.rate === null ? used : `${used} of ${allowedWords(this.rate)}`;
  }

  private pace(settled: number, requests: number): { perSecond: number; requestsPerSecond: number } {
    const at = performance.now();
    this.recent.push({ at, settled, requests });
    while (this.recent.length > 2 && at - (this.recent[0]?.at ?? at) > RECENT_MS) this.recent.shift();
    const [first = { at, settled, requests }] = this.recent;
    // At least a second, since two requests within a moment are not a hundred a second.
    const seconds = Math.max(1, (at - first.at) / 1000);
    return {
      perSecond: (settled - first.settled) / seconds,
      requestsPerSecond: (requests - first.requests) / seconds,
    };
  }
}

/**
 * The entry to show first. A reason that stops the whole batch comes before reasons of single orders. The list is
 * refreshed only now and then, so that a hold that has ended since is left out.
 */
function firstOf(waiting: readonly Waiting[]): Waiting | undefined {
  const still = waiting.filter(
    ({ why, until }) =>
      why !== 'doubt' && !(why === 'hold' && until !== null && Date.parse(until) <= Date.now()),
  );
  return still.find(({ why }) => STANDSTILLS.has(why)) ?? still[0];
}

/** True for a hold of less than half a minute. */
function isShort({ since, until }: Waiting): boolean {
  return until !== null && Date.parse(until) - Date.parse(since) < RECENT_MS;
}

function waitingWords({ why, orders, since, until, message }: Waiting): string {
  const end = until === null ? '' : `, until ${until.slice(11, 19)} UTC`;
  return `${grouped(orders)} wait (${why} since ${since.slice(11, 19)} UTC${end}): ${message}`;
}

/** The progress line while almoner reads the facts of a rule. */
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
    this.show(`reading facts: ${grouped(made)} of ${counted(most, 'request')}${left}`, isLast);
  }
}
