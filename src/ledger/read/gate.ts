import { z } from 'zod';
import { approvalHash } from '../../core/approvals.js';
import { CLOSED, type Closed } from '../../core/may-send.js';
import type { Requirement } from '../../core/people.js';
import { spellMoment } from '../../core/zones.js';
import { askScript, type BatchPlace, type RealmLedger } from '../realm-ledger.js';
import type { Manifest, Reason } from '../views.js';

/** How a batch stands before it begins: what it waits for, and its set time (see includes/gate.lua). */

function isClosed(state: string): state is Closed {
  return CLOSED.some((why) => why === state);
}

/** When a batch is to begin, and in whose zone that was said. */
export type Start = { readonly at: number; readonly zone: string };

export type Gate = {
  readonly closed: Closed | null;
  /**
   * The name of their token; null: none was used. While it waits for an approval, who asks for it; null: it cannot be approved.
   */
  readonly preparer: string | null;
  readonly start: Start | null;
  readonly request: ApprovalRequest | null;
};

/** A batch that stands still keeps its set time; a person who resumes it has to know that. */
export function withSetTime(reason: Reason, gate: Pick<Gate, 'closed' | 'start'> | null): Reason {
  if (gate?.start == null) return reason;
  const at = spellMoment(gate.start.at, gate.start.zone);
  const said =
    gate.closed === 'start-missed'
      ? `It was to begin at ${at}, and begins now only where a person says so.`
      : `Its set time stays when it is resumed: it begins at ${at}.`;
  return { ...reason, message: `${reason.message} ${said}` };
}

/** `retry`: the request for a retry of its dead letters. */
export async function readGate({
  ledger,
  no,
}: BatchPlace): Promise<{ readonly gate: Gate; readonly retry: ApprovalRequest | null }> {
  const [closed = '', preparer = '', at = '', zone = '', json = '', retry = ''] = await askScript(
    ledger,
    'read-gate',
    [no],
  );
  const gate = {
    closed: isClosed(closed) ? closed : null,
    preparer: preparer || null,
    start: at === '' ? null : { at: Number(at), zone },
    request: decodeRequest(json),
  };
  return { gate, retry: decodeRequest(retry) };
}

/** What the seal needs to know of who prepared the batch, and when it is to begin. */
export type Prepared = {
  readonly who: string | null;
  readonly limits: Requirement;
  readonly start: Start | null;
};
export const BY_NOBODY: Prepared = {
  who: null,
  limits: { overTokens: null, overRows: null },
  start: null,
};

/** Of all that an approver is shown of a batch; both faces and the seal come to the same hash. */
export function confirmedHash(
  { id }: Pick<RealmLedger, 'id'>,
  manifest: Manifest,
  { who, start }: Pick<Prepared, 'who' | 'start'>,
): string {
  return approvalHash('batch', { ledger: id, manifest: { ...manifest }, preparer: who, start });
}

export function encodePrepared({ who, limits, start }: Prepared, confirmed: string): string {
  return JSON.stringify({
    who,
    overTokens: String(limits.overTokens ?? ''),
    overRows: String(limits.overRows ?? ''),
    startAt: start?.at ?? null,
    startZone: start?.zone ?? '',
    confirmed,
  });
}

const approved = z.object({ who: z.string(), at: z.number(), ends: z.number() });

const request = z.object({
  hash: z.string(),
  /** Empty where no token was used. */
  who: z.string(),
  at: z.number(),
  why: z.string().nullish(),
  /** Of a rule: the hash of its text. */
  text: z.string().nullish(),
  /** Of a retry. */
  orders: z.number().nullish(),
  tokens: z.string().nullish(),
  approved: approved.nullish(),
});

export type ApprovalRequest = z.infer<typeof request>;

export function decodeRequest(json: string | null | undefined): ApprovalRequest | null {
  return json == null || json === '' ? null : request.parse(JSON.parse(json));
}
