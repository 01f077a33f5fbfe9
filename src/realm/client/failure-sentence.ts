import type { Exchange } from './exchange.js';

/** What went wrong on the wire, as the beginning of a sentence. The hint is for people only. */
export function failureSentence(seen: Extract<Exchange, { ended: 'failure' }>): string {
  const { phase, cause, hint, freshSocket } = seen;
  const late = cause === 'time-out';
  switch (phase) {
    case 'connect':
      return late ? 'No connection to the realm was made within the time-out' : connectSentence(hint);
    case 'tls':
      if (cause === 'bad-certificate') return `The realm's TLS certificate was not accepted (${hint})`;
      return late
        ? 'The TLS handshake did not finish within the time-out'
        : `The TLS handshake failed (${hint})`;
    case 'sent':
      if (late) return 'The request was sent and no answer came within the time-out';
      if (cause === 'garbled') return `The answer is not HTTP (${hint})`;
      return freshSocket
        ? `The connection broke before the answer (${hint})`
        : `A kept connection broke before the answer (${hint})`;
    case 'headers':
      if (late) return 'The answer had begun and was not finished within the time-out';
      return cause === 'garbled'
        ? `The answer is not HTTP (${hint})`
        : `The answer was cut in its head (${hint})`;
    case 'body':
      return late ? 'The body of the answer did not end within the time-out' : `The answer was cut (${hint})`;
  }
}

function connectSentence(hint: string): string {
  switch (hint) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
    case 'EAI_NONAME':
      return `The realm's host name could not be found (${hint})`;
    case 'ECONNREFUSED':
      return 'The connection to the realm was refused (ECONNREFUSED)';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `The network does not reach the realm (${hint})`;
    default:
      return `No connection to the realm could be made (${hint})`;
  }
}
