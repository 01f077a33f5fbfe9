import { text, usage } from './options.js';

/** Why a person did something; it stands in the audit beside who and when. */
export const REASON = { reason: text('TEXT', 'why; kept in the audit') } as const;

export function needReason(given: string | undefined): string {
  const reason = given?.trim() ?? '';
  if (reason === '') throw usage('This needs --reason TEXT: it is kept with the orders. Nothing was done.');
  return reason;
}
