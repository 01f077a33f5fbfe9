import { AlmonerError } from '../core/errors/error.js';
import type { Person } from '../core/people.js';
import { spellMoment } from '../core/zones.js';
import { openDead } from '../ledger/index.js';
import { digitsOf } from '../operations/batches/batch-status.js';
import { type Approval, heldBy, waitsForApproval } from '../operations/people/approve.js';
import { beginsWords, whyNotSecond } from '../words/people.js';
import { isoTime } from '../words/spelling.js';
import type { ApprovalReply, ApprovalsReply } from './api/index.js';
import type { Picture } from './live/overview.js';

/** What waits for a second person, as the desk shows it to somebody. */
export function approvalsReply({ overview, seen, less }: Picture, person: Person): ApprovalsReply {
  const waiting = seen.filter(({ view }) => waitsForApproval(view));
  return {
    batches: waiting
      .sort((one, other) => one.view.manifest.createdAt - other.view.manifest.createdAt)
      .map(({ ref, view, view: { manifest, gate, retry, counts } }) => ({
        batch: ref.id,
        realm: manifest.realm,
        source: manifest.source,
        preparer: (gate ?? retry)?.preparer ?? null,
        createdAt: isoTime(manifest.createdAt),
        begins: beginsWords(gate?.start ?? null),
        orders: retry === null ? (counts.planned ?? 0) : openDead(view),
        retry: retry !== null,
        amounts: digitsOf(manifest.tokens),
        currency: manifest.currency,
        held: heldBy(view),
        whyNot: whyNotSecond(person, (gate ?? retry)?.preparer ?? null, 'prepared'),
      })),
    rules: overview.schedules.flatMap(({ rule, realm, asked }) =>
      asked === null ? [] : [{ rule, realm, asked, whyNot: whyNotSecond(person, asked.who, 'asked for') }],
    ),
    requirements: less.map(({ asked, ...one }) => ({
      ...one,
      asked: asked && { ...asked, at: isoTime(asked.at) },
      whyNot: asked === null ? whyNotAsk(person) : whyNotSecond(person, asked.who, 'asked for'),
    })),
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

function whyNotAsk({ roles }: Person): string | null {
  const may = roles.includes('operator') || roles.includes('approver');
  return may ? null : 'Asking for it needs the role operator or approver, which your token does not have.';
}

/** What of a preview is told beside the batch itself. */
export function previewReply(
  shown: Approval,
): Omit<ApprovalReply, 'summary' | 'manifest' | 'gate' | 'whyNot'> {
  const { view, isRetry, profile, requests, seconds, endsAt, onGo, past, amounts, difference } = shown;
  const { quietHours, timezone } = profile;
  return {
    seal: view.sealHash,
    retry: isRetry,
    payable: {
      orders: shown.orders,
      tokens: String(shown.tokens),
      amounts: amounts && digitsOf(amounts),
    },
    requests,
    seconds,
    ends: spellMoment(endsAt, timezone),
    timezone,
    quietHours: quietHours?.texts ?? [],
    onGo,
    books: { ...past, tokens: String(past.tokens), lastAt: isoTime(past.lastAt) },
    difference:
      difference === null || difference === 'too-many'
        ? difference
        : { ...difference, createdAt: isoTime(difference.createdAt) },
  };
}
