import { CATALOGUE, type ErrorCode } from '../../core/errors/catalogue.js';
import type { SessionEntry } from '../read/session-list.js';
import type { Reason } from '../views.js';
import type { DataFolder } from './folders.js';

/** Why a ledger stays closed, in the words that a person reads in `status`. */
function reasonOf(code: ErrorCode, message: string): Reason {
  return { code, message, next: CATALOGUE[code].next };
}

export function missingReason(sessions: readonly SessionEntry[], folders: readonly DataFolder[]): Reason {
  const names = [
    ...sessions.map(
      ({ id, kind, pid, machine }) => `session ${id} (${kind}, pid ${pid}, machine ${machine})`,
    ),
    ...folders.map(
      ({ journal, machine, fault }) =>
        `the data folder of ${journal} on machine ${machine}${faultWords(fault)}`,
    ),
  ];
  return reasonOf(
    'ALM_LEDGER_DISARMED',
    `The store was restarted or rolled back, and the journals of these were not merged: ${names.join('; ')}. Nothing is being sent.`,
  );
}

function faultWords(fault: DataFolder['fault']): string {
  if (fault === null) return '';
  return fault.what === 'damaged'
    ? `, where line ${fault.line} of ${fault.path} cannot be read`
    : `, which was put back to an earlier time and was paid from until ${new Date(fault.until).toISOString()}`;
}

export function floorReason(found: number, floor: number): Reason {
  return reasonOf(
    'ALM_LEDGER_ROLLED_BACK',
    `The store stands at move ${found}, and journals that were removed reach to move ${floor}: what was sent in between is not known any more. Nothing is being sent.`,
  );
}
