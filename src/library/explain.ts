import { AlmonerError, explained } from '../core/errors/error.js';

/**
 * Errors and findings as a program meets them. The operations speak of options as people type them; here each goes by
 * the name that the library's has. Commands are left as they are: `almoner recover` is for a person.
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

export function inOwnWords(text: string): string {
  return text.replaceAll(
    /`almoner [^`]*`|--([a-z]+(?:-[a-z]+)*)/g,
    (said, option?: string) => OPTION_OF[option ?? ''] ?? said,
  );
}

export function explainedToPrograms(thrown: unknown): AlmonerError {
  const error = explained(thrown, 'ALM_LIBRARY_INTERNAL');
  const { code, message, next, details } = error;
  if (code === 'ALM_CLI_USAGE')
    return new AlmonerError('ALM_LIBRARY_USAGE', inOwnWords(message), { cause: error });
  if ([message, next, ...details].every((text) => inOwnWords(text) === text)) return error;
  const told = { next: inOwnWords(next), details: details.map(inOwnWords), cause: error };
  return new AlmonerError(code, inOwnWords(message), told);
}
