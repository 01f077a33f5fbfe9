import { CATALOGUE, type ErrorCode } from '../core/errors/catalogue.js';
import type { WriteOutcome } from '../core/outcome.js';
import type { RealmProfile } from '../core/profile.js';
import type { SessionEntry } from '../ledger/sessions.js';
import type { Reason } from '../ledger/views.js';

/** Why a batch or realm stands still, in the words a person reads in `status`. */

export function reasonOf(code: ErrorCode, message: string): Reason {
  return { code, message, next: CATALOGUE[code].next };
}

export function haltReason(profile: RealmProfile, outcome: WriteOutcome): Reason {
  const code = outcome.code ?? 'ALM_REALM_KEY_REFUSED';
  return reasonOf(
    code,
    `Realm ${profile.name} is halted: ${said(outcome)}. No further request leaves any worker; the orders stay planned.`,
  );
}

export function refusalReason(outcome: WriteOutcome): Reason {
  return reasonOf(
    'ALM_BATCH_REFUSALS',
    `Order after order was refused. The last time: ${said(outcome)} [${outcome.code ?? 'no code'}]. The rest stays planned; nothing else is being sent.`,
  );
}

/** Some end with a full stop of their own. */
function said({ message }: WriteOutcome): string {
  return message.replace(/\.$/, '');
}

export function capReason(profile: RealmProfile): Reason {
  return reasonOf(
    'ALM_BATCH_DAY_CAP',
    `The next order would exceed the daily cap of ${profile.caps.maxTokensPerDay ?? 0} tokens (UTC day). The rest stays planned.`,
  );
}

export const BREAKER_REASON: Reason = reasonOf(
  'ALM_BATCH_BREAKER',
  'The realm gave no definite answer for 15 minutes. The orders stay as they are; nothing else is being sent.',
);

export function missingReason(missing: readonly SessionEntry[]): Reason {
  const names = missing.map(
    ({ id, kind, pid, machine }) => `${id} (${kind}, pid ${pid}, machine ${machine})`,
  );
  return reasonOf(
    'ALM_LEDGER_DISARMED',
    `The store was restarted or rolled back, and these sessions have not merged their journals: ${names.join('; ')}. Nothing is being sent.`,
  );
}

export function floorReason(found: number, floor: number): Reason {
  return reasonOf(
    'ALM_LEDGER_ROLLED_BACK',
    `The store stands at move ${found}, and the journals of this machine begin after move ${floor}: what was sent in between is not known here. Nothing is being sent.`,
  );
}
