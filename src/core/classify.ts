import type { ErrorCode } from './errors/catalogue.js';
import type { OutcomeCode } from './errors/orders.js';

/**
 * The kinds of result that one write attempt can have. The set is closed: `classify` decides once, from phase and
 * status. `paid` and `refused` are definite answers. `not-sent` proves that no byte of the request left. With `slow-down`
 * and `realm-halted` the realm says that it did not apply the change. All other results are `unknown`.
 */
export const OUTCOME_KINDS = ['paid', 'not-sent', 'refused', 'realm-halted', 'slow-down', 'unknown'] as const;
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

/** How far the exchange got. `connect` and `tls` prove on a fresh socket that the request was not sent. */
export type Phase = 'connect' | 'tls' | 'sent' | 'headers' | 'body' | 'done';

/** The limits that the realm's headers announce; null where a header is missing. */
export type RateHeaders = {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetMs: number | null;
  readonly windowMs: number | null;
};

/** The outcome of one write attempt, with the facts that reports and pacing need. */
export type WriteOutcome = {
  readonly kind: OutcomeKind;
  /** Stable error code of the outcome; null only when paid. */
  readonly code: ErrorCode | null;
  /** One sentence for a person; never holds the key. */
  readonly message: string;
  readonly phase: Phase;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly rate: RateHeaders | null;
  readonly latencyMs: number;
  /** The first 500 characters of the answer's body. */
  readonly body: string;
  /** The member's balance as the answer gave it: digits with an optional sign, exact. */
  readonly balance: string | null;
};

/** How the body of a complete answer reads. `contradicts`: the JSON says that the change was not made. */
export type BodyProof = 'readable' | 'contradicts' | 'unreadable';

export type AttemptFacts =
  /** Status and body arrived whole. A body larger than the read limit counts as `unreadable`. */
  | { readonly ended: 'answer'; readonly status: number; readonly body: BodyProof }
  /** The exchange failed in this phase. `bad-certificate` matters only in phase `tls`. */
  | {
      readonly ended: 'failure';
      readonly phase: Exclude<Phase, 'done'>;
      readonly freshSocket: boolean;
      readonly cause: 'time-out' | 'reset' | 'garbled' | 'bad-certificate' | 'held-back';
    }
  /** The key could not be read or used, so no request was made. */
  | { readonly ended: 'no-key' };

export type Classification =
  | { readonly kind: 'paid'; readonly code: null }
  | { readonly kind: Exclude<OutcomeKind, 'paid'>; readonly code: OutcomeCode };

type StatusOverrides = Readonly<Record<string, OutcomeKind>>;

/** Statuses that mean "definitely not applied", by error code. */
const REFUSED: readonly (readonly [OutcomeCode, readonly number[]])[] = [
  ['ALM_REFUSED_INPUT', [400, 405, 406, 411, 413, 414, 415, 417, 431]],
  ['ALM_REFUSED_BALANCE', [402, 422]],
  ['ALM_REFUSED_NOT_FOUND', [404, 410]],
  ['ALM_REFUSED_OTHER', [451, 501, 505]],
];

/**
 * Statuses about the key or the proxy, for reads and writes alike. Every further request would fail the same way, so
 * the realm halts.
 */
export const REALM_HALTED: ReadonlyMap<number, OutcomeCode> = new Map([
  [401, 'ALM_KEY_REFUSED'],
  [403, 'ALM_KEY_OTHER_REALM'],
  [407, 'ALM_PROXY_AUTH'],
]);

/** Statuses that ask to send later; the request was not processed. */
const SLOW_DOWN: ReadonlySet<number> = new Set([421, 425, 429]);
/** Conflicts and time-outs of the server. They do not prove whether the change was applied. */
const CONFLICT: ReadonlySet<number> = new Set([408, 409, 423, 424]);

/**
 * Classifies the first attempt of an order by phase and status, never by the socket's error code alone. ECONNRESET,
 * for example, can come from the TLS handshake, from after sending, or from our own time-out. A result that is not
 * proven is `unknown`: a wrong `unknown` costs a person a look, a wrong `not-sent` or `refused` pays twice, and a
 * wrong `paid` loses a payment. A resend under the same key proves less; see `classifyResend` in decide.ts.
 */
export function classify(facts: AttemptFacts, overrides: StatusOverrides = {}): Classification {
  switch (facts.ended) {
    case 'no-key':
      return { kind: 'realm-halted', code: 'ALM_KEY_UNUSABLE' };
    case 'failure':
      return classifyFailure(facts);
    case 'answer': {
      const usual = classifyAnswer(facts.status, facts.body);
      const override = Object.hasOwn(overrides, facts.status) ? overrides[facts.status] : undefined;
      return override === undefined ? usual : overridden(usual, override, facts.body);
    }
  }
}

/** Classifies an exchange that ended without a complete answer. */
function classifyFailure(facts: Extract<AttemptFacts, { ended: 'failure' }>): Classification {
  // The sender itself withheld the request, so it was not sent, whatever the state of the socket.
  if (facts.cause === 'held-back') return { kind: 'not-sent', code: 'ALM_SEND_NOT_SENT' };
  const beforeSending = facts.phase === 'connect' || facts.phase === 'tls';
  // A pooled socket was connected earlier. Its failure does not prove that the request was not sent, whatever phase
  // was seen.
  if (beforeSending && facts.freshSocket) {
    const certificate = facts.phase === 'tls' && facts.cause === 'bad-certificate';
    return { kind: 'not-sent', code: certificate ? 'ALM_SEND_BAD_CERTIFICATE' : 'ALM_SEND_NOT_SENT' };
  }
  if (facts.cause === 'time-out') return unknown('ALM_SEND_TIMEOUT');
  if (facts.cause === 'garbled' || facts.phase === 'body') return unknown('ALM_SEND_UNREADABLE');
  return unknown('ALM_SEND_RESET');
}

/** Classifies a complete answer. 202 means only that the realm accepted the request, so it stays unknown. */
function classifyAnswer(status: number, body: BodyProof): Classification {
  if (status === 202) return unknown('ALM_SEND_ACCEPTED_ONLY');
  if (status >= 200 && status < 300) {
    if (body === 'readable') return { kind: 'paid', code: null };
    return unknown(body === 'contradicts' ? 'ALM_SEND_CONTRADICTED' : 'ALM_SEND_UNREADABLE');
  }
  const refused = REFUSED.find(([, statuses]) => statuses.includes(status))?.[0];
  if (refused !== undefined) return { kind: 'refused', code: refused };
  const halted = REALM_HALTED.get(status);
  if (halted !== undefined) return { kind: 'realm-halted', code: halted };
  if (SLOW_DOWN.has(status)) return { kind: 'slow-down', code: 'ALM_SLOW_DOWN' };
  if (CONFLICT.has(status)) return unknown('ALM_SEND_CONFLICT');
  if (status >= 300 && status < 400) return unknown('ALM_SEND_REDIRECTED');
  if (status >= 500 && status < 600) return unknown('ALM_SEND_SERVER_ERROR');
  return unknown('ALM_SEND_UNLISTED');
}

/**
 * Applies the operator's `statusOverrides`. An answer body that contradicts the payment still prevails over a
 * declared `paid`.
 */
function overridden(usual: Classification, kind: OutcomeKind, body: BodyProof): Classification {
  if (kind === usual.kind) return usual;
  if (kind !== 'paid') return { kind, code: DECLARED[kind] };
  return body === 'contradicts' ? unknown('ALM_SEND_CONTRADICTED') : { kind, code: null };
}

const DECLARED: Readonly<Record<Exclude<OutcomeKind, 'paid'>, OutcomeCode>> = {
  refused: 'ALM_REFUSED_OTHER',
  'slow-down': 'ALM_SLOW_DOWN',
  'not-sent': 'ALM_SEND_NOT_SENT',
  'realm-halted': 'ALM_SEND_HALTED',
  unknown: 'ALM_SEND_UNLISTED',
};

function unknown(code: OutcomeCode): Classification {
  return { kind: 'unknown', code };
}
