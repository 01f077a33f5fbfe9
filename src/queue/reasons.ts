import type { WriteOutcome } from '../core/classify.js';
import { counted } from '../core/counted.js';
import { CATALOGUE, type ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError } from '../core/errors/error.js';
import type { RealmProfile } from '../core/profile.js';
import type { TermsChange } from '../core/terms.js';
import type { Reason, sending } from '../ledger/index.js';

/** Why a batch or realm stands still, in the words a person reads in `status`. */

export function reasonOf(code: ErrorCode, message: string): Reason {
  return { code, message, next: CATALOGUE[code].next };
}

/** The fields of a write's or a read's outcome that a reason tells. */
type Said = Pick<WriteOutcome, 'code' | 'message'>;

export function haltReason(profile: RealmProfile, outcome: Said): Reason {
  const code = outcome.code ?? 'ALM_REALM_KEY_REFUSED';
  return reasonOf(
    code,
    `Realm ${profile.name} is halted: ${said(outcome)}. No further request leaves any worker; the orders stay planned.`,
  );
}

export function refusalReason(outcome: Said): Reason {
  return reasonOf(
    'ALM_BATCH_REFUSALS',
    `Order after order was turned down. The last time: ${said(outcome)} [${outcome.code ?? 'no code'}]. The rest stays planned; nothing else is being sent.`,
  );
}

/** Some end with a full stop of their own. */
function said({ message }: Said): string {
  return message.replace(/\.$/, '');
}

export function capReason(profile: RealmProfile): Reason {
  return reasonOf(
    'ALM_BATCH_DAY_CAP',
    `The next order would exceed the daily cap of ${profile.caps.maxTokensPerDay ?? 0} tokens (UTC day). The rest stays planned.`,
  );
}

export function changedReason({ what, sealed, now }: TermsChange, profile: string): Reason {
  return reasonOf(
    'ALM_BATCH_TERMS_CHANGED',
    `The batch was confirmed for ${what} ${sealed}, and the profile ${profile} now says ${now}. Nothing of it is being sent.`,
  );
}

export function breakerReason(openMs: number): Reason {
  const open = openMs < 60_000 ? `${Math.round(openMs / 1000)} s` : `${Math.round(openMs / 60_000)} minutes`;
  return reasonOf(
    'ALM_BATCH_BREAKER',
    `The realm gave no definite answer for ${open}. The orders stay as they are; nothing else is being sent.`,
  );
}

/** Of a process that takes no work although there is some. */
export function stalledError(realm: string, waiting: number, stalledMs: number): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_STALLED',
    `In realm ${realm} ${counted(waiting, 'order waits', 'orders wait')}, the store answers, and this process has taken none for ${Math.round(stalledMs / 1000)} s. Nothing is being sent by it; it ends.`,
  );
}

/** Of a process that stops with results which the store refuses. */
export function unsettledError(
  realm: string,
  open: Awaited<ReturnType<sending.Attempts['offers']['drained']>>,
): AlmonerError {
  const errors = [...new Set(open.map(({ error }) => error))].slice(0, 3).join('; ');
  return new AlmonerError(
    'ALM_LEDGER_UNSETTLED',
    `In realm ${realm} the store refuses the results of ${counted(open.length, 'request')}: ${errors}. The journal keeps them, and this process stays registered for them. Nothing more is sent by it.`,
  );
}
