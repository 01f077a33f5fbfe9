import {
  CLI_ERRORS,
  CONFIG_ERRORS,
  DESK_ERRORS,
  LIBRARY_ERRORS,
  PEOPLE_ERRORS,
  RULES_ERRORS,
} from './commands.js';
import type { ErrorEntry } from './entry.js';
import { PLAN_ERRORS } from './input.js';
import { BATCH_ERRORS, OUTCOME_ERRORS } from './orders.js';
import { ROW_ERRORS } from './rows.js';
import {
  BACKUP_ERRORS,
  LEDGER_ERRORS,
  REALM_ERRORS,
  SERVICE_ERRORS,
  STORE_ERRORS,
} from './store-and-realm.js';

/**
 * Every code a user can meet: `ALM_<AREA>_<WHAT>`. docs/reference/errors.md is written from this table, a chapter for each
 * part of it, and a test holds the two equal.
 */
export const CATALOGUE = {
  ...CLI_ERRORS,
  ...LIBRARY_ERRORS,
  ...CONFIG_ERRORS,
  ...STORE_ERRORS,
  ...REALM_ERRORS,
  ...SERVICE_ERRORS,
  ...OUTCOME_ERRORS,
  ...PLAN_ERRORS,
  ...ROW_ERRORS,
  ...RULES_ERRORS,
  ...BATCH_ERRORS,
  ...LEDGER_ERRORS,
  ...BACKUP_ERRORS,
  ...PEOPLE_ERRORS,
  ...DESK_ERRORS,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof CATALOGUE;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(CATALOGUE, text);
}

export const ERROR_CODES = Object.keys(CATALOGUE).filter(isErrorCode);
