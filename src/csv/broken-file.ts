import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError } from '../core/errors/error.js';
import type { Finding } from './row.js';

/**
 * A fault after which nothing more of the file can be trusted: bytes that are not text, quotes that leave it
 * open where a row ends, a limit. It ends the reading, and --skip-invalid does not get past it, because rows
 * behind it might be missing without anybody noticing.
 */
export class BrokenFile extends AlmonerError {
  readonly finding: Finding;

  constructor(code: ErrorCode, line: number, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.finding = { line, column: null, code, message };
  }
}
