import { resolve } from 'node:path';
import { AlmonerError } from '../core/errors/error.js';
import { type BatchId, isBatchId, isMemberId, MEMBER_ID_DIGITS_MAX, type MemberId } from '../core/ids.js';
import { oneLine } from '../core/one-line.js';
import { takeRows } from '../csv/take-rows.js';
import type { PlanRequest } from '../operations/pay/plan-file.js';
import type { Input, PlanOptions } from './given.js';

/**
 * What a program gave, as the operations take it. Types say most of it already; a program without types is told by name
 * what it got wrong, before anything is done.
 */
export function misuse(message: string): AlmonerError {
  return new AlmonerError('ALM_LIBRARY_USAGE', `${message}. Nothing was done.`);
}

export function readInput(input: Input, options: PlanOptions, cwd: string): PlanRequest {
  const { again = null, newRowsOnly = false, expectRows = null } = options;
  if (again !== null && newRowsOnly)
    throw misuse(
      'again pays rows once more that were paid before, newRowsOnly leaves them out: give one of them',
    );
  return {
    ...sourceOf(input, cwd),
    again,
    newRowsOnly,
    expectRows,
    newAddress: options.newAddress ?? false,
    skipInvalid: options.skipInvalid ?? false,
    expectTokens: options.expectTokens === undefined ? null : digits(options.expectTokens),
  };
}

function sourceOf(input: Input, cwd: string) {
  if ('rows' in input && Array.isArray(input.rows) && !('file' in input))
    return { rows: takeRows(input.rows), name: oneLine(input.name ?? '').trim() || 'rows' };
  if ('rows' in input || typeof input.file !== 'string')
    throw misuse('expected { file } with a path, or { rows } with a list of rows');
  const map = Object.entries(input.map ?? {}).map(([meaning, column]) => `${meaning}=${column}`);
  return { file: resolve(cwd, input.file), map };
}

function digits(tokens: number | bigint | string): string {
  const text = typeof tokens === 'number' && !Number.isSafeInteger(tokens) ? '' : String(tokens);
  if (!/^[0-9]+$/.test(text)) throw misuse(`expectTokens: expected a sum in whole tokens, got ${tokens}`);
  return text;
}

export function readBatchId(given: string | undefined): BatchId | null {
  if (given === undefined) return null;
  if (isBatchId(given)) return given;
  throw misuse(
    `batchId: expected 3 to 64 lower-case letters, digits, dots, dashes or underscores, got ${JSON.stringify(given)}`,
  );
}

export function readMember(given: string): MemberId {
  if (typeof given === 'string' && isMemberId(given)) return given;
  throw misuse(
    `expected a member id of 1 to ${MEMBER_ID_DIGITS_MAX} digits as a string, got ${String(given)}`,
  );
}

export function readReason(given: string): string {
  const reason = typeof given === 'string' ? given.trim() : '';
  if (reason === '') throw misuse('reason: expected a sentence; it is kept with the orders');
  return reason;
}

export function readFirst(given: number | undefined): number | null {
  if (given === undefined) return null;
  if (Number.isSafeInteger(given) && given > 0) return given;
  throw misuse(`first: expected a whole number of at least 1, got ${given}`);
}
