import { closeSync, mkdtempSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defuse } from '../core/formula-cells.js';
import type { Finding } from '../csv/row.js';

export const SCREEN_FINDINGS_MAX = 50;
const KEPT_MAX = 1000;
const BUFFER_CHARACTERS = 64 * 1024;
const HEADER = 'line,column,code,message\n';

/**
 * Collects what is wrong and what is odd. All faults are counted; the first thousand stay in memory, and once
 * there are more, every fault also goes to a temporary file, so that a file with a fault in each of five
 * million rows costs disk and not memory. Writing is synchronous: the rows wait for it, which is the bound.
 */
export class Findings {
  readonly #faults: Finding[] = [];
  readonly #warnings: Finding[] = [];
  #faultCount = 0;
  #warningCount = 0;
  #spool: number | undefined;
  #buffer = '';

  get faultCount(): number {
    return this.#faultCount;
  }

  get warningCount(): number {
    return this.#warningCount;
  }

  /** The first faults, for the screen unless told otherwise; at most a thousand. */
  faults(max = SCREEN_FINDINGS_MAX): readonly Finding[] {
    return this.#faults.slice(0, max);
  }

  warnings(max = SCREEN_FINDINGS_MAX): readonly Finding[] {
    return this.#warnings.slice(0, max);
  }

  fault(finding: Finding): void {
    this.#faultCount++;
    if (this.#faults.length < KEPT_MAX) {
      this.#faults.push(finding);
      return;
    }
    if (this.#spool === undefined) this.#openSpool();
    this.#buffer += csvLine(finding);
    if (this.#buffer.length > BUFFER_CHARACTERS) this.#flush();
  }

  warning(finding: Finding): void {
    this.#warningCount++;
    if (this.#warnings.length < KEPT_MAX) this.#warnings.push(finding);
  }

  /** Writes all faults to a CSV file, which appears whole or not at all. */
  writeFaults(path: string): void {
    const unfinished = `${path}.part`;
    // What is left of a killed process, or planted there, is not written into.
    rmSync(unfinished, { force: true });
    const file = openSync(unfinished, 'wx', 0o600);
    try {
      if (this.#spool === undefined) writeSync(file, HEADER + this.#faults.map(csvLine).join(''));
      else {
        this.#flush();
        copy(this.#spool, file);
      }
    } finally {
      closeSync(file);
    }
    renameSync(unfinished, path);
  }

  /** Lets go of the temporary file; the counts and the first faults stay. */
  close(): void {
    if (this.#spool !== undefined) closeSync(this.#spool);
    this.#spool = undefined;
    this.#buffer = '';
  }

  #openSpool(): void {
    const folder = mkdtempSync(join(tmpdir(), 'almoner-faults-'));
    try {
      // Open without a name: whatever ends the process, nothing stays behind.
      this.#spool = openSync(join(folder, 'faults.csv'), 'wx+', 0o600);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    this.#buffer = HEADER + this.#faults.map(csvLine).join('');
  }

  #flush(): void {
    if (this.#spool !== undefined) writeSync(this.#spool, this.#buffer);
    this.#buffer = '';
  }
}

function copy(from: number, to: number): void {
  const piece = Buffer.allocUnsafe(BUFFER_CHARACTERS);
  for (let at = 0, bytes = -1; bytes !== 0; at += bytes) {
    bytes = readSync(from, piece, 0, piece.length, at);
    writeSync(to, piece, 0, bytes);
  }
}

/** Messages quote cells of the file, so each text cell is defused like those of a report. */
function csvLine(finding: Finding): string {
  const { line, column, code, message } = finding;
  return `${line === 0 ? '' : line},${textCell(column ?? '')},${code},${textCell(message)}\n`;
}

function textCell(text: string): string {
  const safe = defuse(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const RANGES_SHOWN = 10;

/** Lines for people: `line 7`, `lines 2-101, 104 and 3 more`. */
export function lineRanges(lines: readonly number[]): string {
  const sorted = [...lines].sort((a, b) => a - b);
  const ranges: [first: number, last: number][] = [];
  let shown = 0;
  for (const line of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && line <= last[1] + 1) last[1] = line;
    else if (ranges.length === RANGES_SHOWN) break;
    else ranges.push([line, line]);
    shown += 1;
  }
  const words = ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
  const more = sorted.length > shown ? ` and ${sorted.length - shown} more` : '';
  return `${sorted.length === 1 ? 'line' : 'lines'} ${words}${more}`;
}
