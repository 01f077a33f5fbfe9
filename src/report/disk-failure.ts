import { AlmonerError, isAlmonerError, messageOf } from '../core/errors/error.js';

/** Runs one step on the disk; what the system refuses becomes an error that a person can act on. */
export async function onDisk<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (isAlmonerError(error)) throw error;
    throw new AlmonerError(
      'ALM_BATCH_REPORT_NOT_WRITTEN',
      `The report could not be written at ${path}: ${messageOf(error)}. No payment is affected, and every report file that stood there is still whole.`,
      { cause: error },
    );
  }
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
