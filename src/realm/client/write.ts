import { type AttemptFacts, type Classification, classify } from '../../core/classify.js';
import type { WriteOutcome } from '../../core/outcome.js';
import type { RealmProfile } from '../../core/profile.js';
import { type AnswerBody, messageIn, readAnswerBody, requestIdIn, verdictOf } from './answer-body.js';
import { failureSentence, headerFacts } from './answer-headers.js';
import { answerBalance } from './balance.js';
import type { Credential } from './credential.js';
import type { Exchange } from './exchange.js';

/** Of an answer's body; enough to recognize it, little enough to keep for every dead letter. */
const EXCERPT_CHARS = 500;

/** From what was seen of one write to the value everybody else works with. */
export function writeOutcome(seen: Exchange, credential: Credential, profile: RealmProfile): WriteOutcome {
  const body = readAnswerBody(seen.body, seen.headers['content-encoding']);
  const classified = classify(factsOf(seen, body), profile.statusOverrides);
  const { requestId, retryAfterMs, rate } = headerFacts(seen.headers, Date.now());
  const id = requestId ?? requestIdIn(body);
  return {
    ...classified,
    message: credential.mask(messageOf(seen, body, classified)),
    phase: seen.ended === 'answer' ? 'done' : seen.phase,
    status: seen.status,
    requestId: id === null ? null : credential.mask(id),
    retryAfterMs,
    rate,
    latencyMs: seen.latencyMs,
    // Masked before it is cut: a cut key would no longer be recognized.
    body: excerpt(credential.mask(body.text)),
    balance: classified.kind === 'paid' && body.readable ? answerBalance(body.json, profile) : null,
  };
}

/** The key could not be used: no request was made, and the whole realm has to wait for a person. */
export function keylessOutcome(message: string): WriteOutcome {
  return {
    ...classify({ ended: 'no-key' }),
    message,
    phase: 'connect',
    status: null,
    requestId: null,
    retryAfterMs: null,
    rate: null,
    latencyMs: 0,
    body: '',
    balance: null,
  };
}

function factsOf(seen: Exchange, body: AnswerBody): AttemptFacts {
  if (seen.ended === 'failure') return seen;
  return { ended: 'answer', status: seen.status, body: seen.oversize ? 'unreadable' : verdictOf(body) };
}

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
  // Half of a surrogate pair would not survive being written as UTF-8.
  return cut.replace(/[\ud800-\udbff]$/, '');
}
