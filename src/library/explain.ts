import { AlmonerError, explained } from '../core/errors/error.js';

/**
 * The library's option for each option of the command line. Errors and findings name options as people type them, so
 * that the library replaces these names. It leaves whole commands such as `almoner recover`, which are for a person.
 */
const OPTION_OF: Readonly<Record<string, string>> = {
  again: 'again',
  currency: 'currency',
  'new-rows-only': 'newRowsOnly',
  'skip-invalid': 'skipInvalid',
  'new-address': 'newAddress',
  'new-ledger': 'newLedger',
  'expect-rows': 'expectRows',
  'expect-tokens': 'expectTokens',
  'batch-id': 'batchId',
  'in-order': 'inOrder',
  first: 'first',
  map: 'map',
  'forget-map': 'forgetMap',
  'header-line': 'headerLine',
  members: 'members',
  out: 'out',
  realm: 'realm',
  yes: 'evenIfItMayArrive',
};

/** Replaces option names of the command line by those of the library. */
export function inOwnWords(text: string): string {
  return text.replaceAll(
    /`almoner [^`]*`|--([a-z]+(?:-[a-z]+)*)/g,
    (said, option?: string) => OPTION_OF[option ?? ''] ?? said,
  );
}

/** Turns anything thrown into an `AlmonerError` in the library's words. */
export function explainedToPrograms(thrown: unknown): AlmonerError {
  const error = explained(thrown, 'ALM_LIBRARY_INTERNAL');
  const { code, message, next, details } = error;
  if (code === 'ALM_CLI_USAGE')
    return new AlmonerError('ALM_LIBRARY_USAGE', inOwnWords(message), { cause: error });
  if ([message, next, ...details].every((text) => inOwnWords(text) === text)) return error;
  const told = { next: inOwnWords(next), details: details.map(inOwnWords), cause: error };
  return new AlmonerError(code, inOwnWords(message), told);
}
