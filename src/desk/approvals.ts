import { AlmonerError } from '../core/errors/error.js';
import type { Person } from '../core/people.js';
import { spellMoment } from '../core/zones.js';
import type { RowView } from '../ledger/index.js';
import {
  type Approval,
  askedBy,
  heldBy,
  payableOf,
  waitsForApproval,
} from '../operations/approvals/approvals.js';
import { digitsOf } from '../operations/batches/batch-status.js';
import { beginsWords, whyNotSecond } from '../words/people.js';
import { isoTime } from '../words/spelling.js';
import type { ApprovalReply, ApprovalsReply } from './api/index.js';
import type { Picture } from './live/overview.js';

/** What waits for a second person, as the desk shows it to somebody. */
export function approvalsReply({ overview, seen }: Picture, person: Person): ApprovalsReply {
  const waiting = seen.filter(({ view }) => waitsForApproval(view));
  return {
    batches: waiting
      .sort((one, other) => one.view.manifest.createdAt - other.view.manifest.createdAt)
      .map(({ ref, view, view: { manifest, gate, retry } }) => ({
        batch: ref.id,
        realm: manifest.realm,
        source: manifest.source,
        preparer: askedBy(view),
        createdAt: isoTime(manifest.createdAt),
        begins: beginsWords(gate?.start ?? null),
        orders: payableOf(view).orders,
        tokens: String(payableOf(view).tokens),
        retry: retry !== null,
        amounts: manifest.duplicates === 0 ? digitsOf(manifest.tokens) : null,
        currency: manifest.currency,
        held: heldBy(view),
        whyNot: whyNotSecond(person, askedBy(view), retry === null ? 'prepared' : 'asked for'),
      })),
    rules: overview.schedules.flatMap(({ rule, realm, asked }) =>
      asked === null ? [] : [{ rule, realm, asked, whyNot: whyNotSecond(person, asked.who, 'asked for') }],
    ),
  };
}

/** Nobody agrees to what they were not shown that another had asked for, nor asks for what is not wanted any more. */
export function refuseOtherFirst(shown: string | null, now: string | null): void {
  if (shown?.toLowerCase() === now?.toLowerCase()) return;
  const words =
    now === null ? `${shown} does not ask for this any more.` : `${now} has asked for this meanwhile.`;
  throw new AlmonerError('ALM_DESK_CHANGED', `${words} That is not what was shown. Nothing was done.`, {
    next: 'Look at it as it stands now, then say what you want.',
  });
}

/** What of a preview is told beside the batch itself. */
export function previewReply(
  shown: Approval,
): Omit<ApprovalReply, 'summary' | 'manifest' | 'gate' | 'whyNot'> {
  const { view, letters, profile, requests, seconds, endsAt, after, past, amounts, difference } = shown;
  const { quietHours, timezone } = profile;
  const { columns, warnings } = view.manifest;
  return {
    hash: shown.hash,
    retry: letters?.slice(0, LETTERS_SHOWN).map(letterReply) ?? null,
    isOutdated: shown.isOutdated,
    why: shown.asked.why,
    payable: {
      orders: shown.orders,
      tokens: String(shown.tokens),
      amounts: amounts && digitsOf(amounts),
    },
    columns,
    warnings,
    requests,
    seconds,
    ends: spellMoment(endsAt, timezone),
    timezone,
    quietHours: quietHours?.texts ?? [],
    after,
    books: { ...past, tokens: String(past.tokens), lastAt: isoTime(past.lastAt) },
    difference:
      difference === null || difference === 'too-many'
        ? difference
        : { ...difference, createdAt: isoTime(difference.createdAt) },
  };
}

const LETTERS_SHOWN = 100;

function letterReply({ order, member, op, tokens, state, errorCode, attempts }: RowView) {
  return { order, member, op, tokens, state, class: errorCode, attempts };
}
