import type { OrderEvent } from '../../ledger/order-event.js';
import { clockTime, duration } from '../../report/spelling.js';

/** What an order met, one entry a paragraph, for a person who looks for a cause. */
export function detailLines(detail: OrderEvent): string[] {
  const at = clockTime(detail.at);
  switch (detail.event) {
    case 'attempt': {
      const status = detail.status === null ? 'no status' : `status ${detail.status}`;
      return [
        `  ${at}  attempt: ${detail.message}${detail.code === null ? '' : ` [${detail.code}]`}`,
        `      ${detail.kind}, ${status}, phase ${detail.phase}, ${duration(detail.latencyMs)}, key ${detail.key}, request id ${detail.requestId ?? 'none'}`,
        ...(detail.body === '' ? [] : [`      body: ${oneLine(detail.body)}`]),
      ];
    }
    case 'orphaned':
      return [`  ${at}  ${detail.message} [${detail.code}]`, `      key ${detail.key}`];
    case 'balances': {
      const { member, recipient } = detail.balances;
      const when = { before: 'before sending', doubt: 'when the doubt arose', check: 'while resolving' };
      const other = recipient === null ? '' : `, recipient ${recipient}`;
      return [`  ${at}  balance ${when[detail.when]}: member ${member ?? 'not readable'}${other}`];
    }
    case 'concluded':
      return [`  ${at}  ${detail.state}, by ${detail.by}: ${detail.message}`];
    case 'retried':
      return [`  ${at}  put back to work by ${detail.who}${detail.why === null ? '' : `: ${detail.why}`}`];
    case 'discarded':
      return [`  ${at}  discarded by ${detail.who}: ${detail.why}`];
  }
}

/** An answer's body is somebody else's text: it must neither break the layout nor steer the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
}
