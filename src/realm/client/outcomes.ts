import { type AttemptFacts, type Classification, classify, type WriteOutcome } from '../../core/classify.js';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmErrorCode } from '../../core/errors/store-and-realm.js';
import { oneLine } from '../../core/one-line.js';
import type { RealmProfile } from '../../core/profile.js';
import { isJsonObject } from '../json.js';
import {
  type AnswerBody,
  answerBalance,
  bodyProofOf,
  messageIn,
  readAnswerBody,
  reportsError,
  requestIdIn,
} from './answer-body.js';
import { headerFacts } from './answer-headers.js';
import type { Credential } from './credential.js';
import { type Exchange, failureSentence } from './exchange.js';

/** The facts of a request that pacing and metrics use, whatever its outcome. */
type AnswerFacts = Pick<WriteOutcome, 'status' | 'requestId' | 'retryAfterMs' | 'rate' | 'latencyMs'>;

const NO_REQUEST: AnswerFacts = {
  status: null,
  requestId: null,
  retryAfterMs: null,
  rate: null,
  latencyMs: 0,
};

/** Collects these facts. The request id comes from a header, or else from the body, with the key masked. */
function factsOf(seen: Exchange, body: AnswerBody, credential: Credential): AnswerFacts {
  const head = headerFacts(seen.headers, Date.now());
  const id = head.requestId ?? requestIdIn(body);
  return {
    status: seen.status,
    requestId: id === null ? null : credential.mask(id),
    retryAfterMs: head.retryAfterMs,
    rate: head.rate,
    latencyMs: seen.latencyMs,
  };
}

/** The result of exactly one read request. */
export type ReadResult<T> =
  | { readonly ok: true; readonly value: T; readonly facts: AnswerFacts }
  | {
      readonly ok: false;
      readonly error: AlmonerError;
      readonly retryable: boolean;
      /** False if no connection was established. The result then says nothing about the member. */
      readonly reached: boolean;
      readonly facts: AnswerFacts;
    };

/** What was read, for the error message. */
export type ReadSubject = { readonly what: 'member' | 'web3' | 'wallets'; readonly name: string };

/** Turns a read exchange into a value, or into an error with the advice whether to retry. */
export function readResult(
  seen: Exchange,
  credential: Credential,
  subject: ReadSubject,
): ReadResult<unknown> {
  const body = readAnswerBody(seen.body, seen.headers['content-encoding']);
  const facts = factsOf(seen, body, credential);
  const fault = faultOf(seen, body, subject);
  if (fault === undefined && body.readable) return { ok: true, value: maskedJson(body, credential), facts };
  const { code, message, retryable } = fault ?? notJson(body);
  const named = facts.requestId === null ? message : `${message} Request id: ${facts.requestId}.`;
  // Do not attach the cause: got's errors carry the request's headers, which hold the key.
  const reached = seen.ended === 'answer' || !seen.freshSocket || !['connect', 'tls'].includes(seen.phase);
  return { ok: false, error: new AlmonerError(code, credential.mask(named)), retryable, reached, facts };
}

/** The result of a read whose API key could not be used. No request was made. */
export function keylessRead(message: string): ReadResult<never> {
  const error = new AlmonerError('ALM_REALM_KEY_UNUSABLE', message);
  return { ok: false, error, retryable: false, reached: false, facts: NO_REQUEST };
}

type Fault = { readonly code: RealmErrorCode; readonly message: string; readonly retryable: boolean };

/** The fault of a read exchange; undefined if it succeeded. */
function faultOf(seen: Exchange, body: AnswerBody, subject: ReadSubject): Fault | undefined {
  if (seen.ended === 'failure') {
    const message = `${failureSentence(seen)}; nothing was changed.`;
    if (seen.cause === 'bad-certificate')
      return { code: 'ALM_REALM_BAD_CERTIFICATE', message, retryable: false };
    const code = seen.cause === 'time-out' ? 'ALM_REALM_TOO_SLOW' : cutCode(seen.phase);
    return { code, message, retryable: true };
  }
  if (seen.status >= 200 && seen.status < 300) {
    if (seen.oversize || !body.readable) return notJson(body);
    if (isJsonObject(body.json) && reportsError(body.json))
      return {
        code: 'ALM_REALM_REFUSED',
        message: said(seen.status, body, 'and reports an error'),
        retryable: false,
      };
    return undefined;
  }
  return statusFault(seen.status, seen.headers.location, body, subject);
}

function cutCode(phase: string): RealmErrorCode {
  return phase === 'body' ? 'ALM_REALM_NOT_JSON' : 'ALM_REALM_UNREACHABLE';
}

/** Maps the status of a failed read to an error code and a sentence. */
function statusFault(
  status: number,
  location: string | undefined,
  body: AnswerBody,
  subject: ReadSubject,
): Fault {
  const fault = (code: RealmErrorCode, meaning: string, retryable = false): Fault => ({
    code,
    message: said(status, body, meaning),
    retryable,
  });
  if (status === 401) return fault('ALM_REALM_KEY_REFUSED', '(the API key is wrong or does not exist)');
  if (status === 403 && subject.what === 'wallets')
    return fault(
      'ALM_REALM_WALLETS_FORBIDDEN',
      '(the API key belongs to a different realm, or a CDN in between forbids the GET with a body that the wallet check is)',
    );
  if (status === 403) return fault('ALM_REALM_KEY_OTHER_REALM', '(the API key belongs to a different realm)');
  if (status === 404 && subject.what !== 'wallets')
    return fault('ALM_REALM_MEMBER_NOT_FOUND', `(there is no member ${subject.name}, or no such realm)`);
  if (status === 407) return fault('ALM_REALM_PROXY_AUTH', '(a proxy in between wants a login)');
  if (status === 421 || status === 425 || status === 429)
    return fault('ALM_REALM_RATE_LIMITED', '(too many requests)', true);
  if (status >= 300 && status < 400)
    return fault(
      'ALM_REALM_REDIRECTED',
      location === undefined ? '(a redirect)' : `(a redirect to ${oneLine(location).slice(0, 200)})`,
    );
  if (status >= 500) return fault('ALM_REALM_SERVER_ERROR', '(a server error)', true);
  return fault('ALM_REALM_REFUSED', '(refused)', status === 408);
}

function notJson(body: AnswerBody): Fault {
  const kind =
    body.text.trim() === '' ? 'empty' : /^\s*</.test(body.text) ? 'a web page' : 'not readable as JSON';
  return { code: 'ALM_REALM_NOT_JSON', message: `The realm's answer is ${kind}.`, retryable: false };
}

function said(status: number, body: AnswerBody, meaning: string): string {
  const words = messageIn(body);
  return `The realm answered ${status} ${meaning}${words === null ? '' : `: ${words.replace(/\.$/, '')}`}.`;
}

/** A record may echo the key; it is then masked in every text of the record. Numbers and ids stay as they are. */
function maskedJson(body: Extract<AnswerBody, { readable: true }>, credential: Credential): unknown {
  return credential.mask(body.text) === body.text ? body.json : maskDeep(body.json, credential);
}

function maskDeep(value: unknown, credential: Credential): unknown {
  if (typeof value === 'string') return credential.mask(value);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, credential));
  if (!isJsonObject(value)) return value;
  const pairs = Object.entries(value).map(([name, item]) => [
    credential.mask(name),
    maskDeep(item, credential),
  ]);
  return Object.fromEntries(pairs);
}

/** Characters kept of an answer's body: enough to recognize it, and few enough to store with every dead letter. */
const EXCERPT_CHARS = 500;

/** Turns a write exchange into the outcome that all other code works with. */
export function writeOutcome(seen: Exchange, credential: Credential, profile: RealmProfile): WriteOutcome {
  const body = readAnswerBody(seen.body, seen.headers['content-encoding']);
  const classified = classify(attemptOf(seen, body), profile.statusOverrides);
  const facts = factsOf(seen, body, credential);
  // Fields are copied one by one: object spread would cost as much as parsing the whole answer.
  return {
    kind: classified.kind,
    code: classified.code,
    status: facts.status,
    requestId: facts.requestId,
    retryAfterMs: facts.retryAfterMs,
    rate: facts.rate,
    latencyMs: facts.latencyMs,
    message: credential.mask(messageOf(seen, body, classified)),
    phase: seen.ended === 'answer' ? 'done' : seen.phase,
    // Mask before cutting: a key that was cut in half would no longer be recognized.
    body: excerpt(credential.mask(body.text)),
    balance: classified.kind === 'paid' && body.readable ? answerBalance(body.json, profile) : null,
  };
}

/**
 * The outcome of a write whose API key could not be used. No request was made; the realm halts until a person
 * replaces the key.
 */
export function keylessOutcome(message: string): WriteOutcome {
  return {
    ...classify({ ended: 'no-key' }),
    ...NO_REQUEST,
    message,
    phase: 'connect',
    body: '',
    balance: null,
  };
}

function attemptOf(seen: Exchange, body: AnswerBody): AttemptFacts {
  if (seen.ended === 'failure') return seen;
  return { ended: 'answer', status: seen.status, body: seen.oversize ? 'unreadable' : bodyProofOf(body) };
}

/** Says in one sentence what the realm answered and whether the change was applied. */
function messageOf(seen: Exchange, body: AnswerBody, { kind }: Classification): string {
  if (seen.ended === 'failure') {
    const applied = kind === 'not-sent' ? 'nothing was sent' : 'the change may or may not have been applied';
    const answered = seen.status === null ? '' : ` It had answered ${seen.status}.`;
    return `${failureSentence(seen)}; ${applied}.${answered}`;
  }
  const said = messageIn(body);
  const quoted = said === null ? '' : `: ${said.replace(/\.$/, '')}`;
  switch (kind) {
    case 'paid':
      return `The realm answered ${seen.status}${quoted}`;
    case 'unknown':
      return `The realm answered ${seen.status}${quoted || bodyTrouble(seen.oversize, body)} (the change may or may not have been applied)`;
    default:
      return `The realm answered ${seen.status}${quoted} (nothing was applied)`;
  }
}

function bodyTrouble(oversize: boolean, body: AnswerBody): string {
  if (oversize) return ' with a body larger than is read';
  if (body.text.trim() === '') return ' with an empty body';
  if (/^\s*</.test(body.text)) return ' with a web page instead of JSON';
  return body.readable ? '' : ' with a body that is not JSON';
}

function excerpt(text: string): string {
  const cut = text.slice(0, EXCERPT_CHARS);
  // Remove half of a surrogate pair: it cannot be written as UTF-8.
  return cut.replace(/[\ud800-\udbff]$/, '');
}
