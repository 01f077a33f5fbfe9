import { BATCH_ERRORS } from './batch.js';
import { CLI_ERRORS } from './cli.js';
import { CONFIG_ERRORS } from './config.js';
import { DESK_ERRORS } from './desk.js';
import { LEDGER_ERRORS } from './ledger.js';
import { OUTCOME_ERRORS } from './outcome.js';
import { PLAN_ERRORS } from './plan.js';
import { REALM_ERRORS } from './realm.js';
import { ROW_ERRORS } from './row.js';
import { RULE_ERRORS } from './rules.js';
import { SERVICE_ERRORS } from './service.js';
import { STORE_ERRORS } from './store.js';

/**
 * Every code a user can meet: `ALM_<AREA>_<WHAT>`. One file per area; docs/errors.md is written from this
 * table and a test holds the two equal.
 */
export const CATALOGUE = {
  ...CLI_ERRORS,
  ...CONFIG_ERRORS,
  ...STORE_ERRORS,
  ...REALM_ERRORS,
  ...SERVICE_ERRORS,
  ...OUTCOME_ERRORS,
  ...PLAN_ERRORS,
  ...ROW_ERRORS,
  ...RULE_ERRORS,
  ...BATCH_ERRORS,
  ...LEDGER_ERRORS,
  ...DESK_ERRORS,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof CATALOGUE;

export type { ErrorEntry, ExitCode } from './entry.js';

import type { ErrorEntry } from './entry.js';

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(CATALOGUE, text);
}
