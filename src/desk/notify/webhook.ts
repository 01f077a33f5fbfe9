import { createHmac, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type DeliverOptions, deliver, type Notice, type Target } from './notice.js';

/**
 * JSON by POST. With a secret the body is signed: `x-almoner-signature: sha256=<hex>` is the HMAC-SHA256 of
 * `<x-almoner-timestamp>.<body>`; the timestamp inside the signature lets the receiver refuse old copies.
 */
export type WebhookOptions = {
  readonly url: string;
  /** Read when it is used, so that a rotated secret counts at the next notice; null: not signed. */
  readonly secret: (() => string) | null;
  readonly realm: string;
  readonly logger: Logger;
  readonly tries: DeliverOptions;
};

export function webhook(options: WebhookOptions): Target {
  return {
    wants: ['finished', 'halted', 'doubt', 'missing-session'],
    async send(notice) {
      const body = JSON.stringify(payloadOf(notice));
      const id = randomUUID();
      const headers = () => {
        const timestamp = String(Math.floor(Date.now() / 1000));
        const secret = options.secret?.() ?? null;
        return {
          'x-almoner-event': notice.event,
          'x-almoner-delivery': id,
          'x-almoner-timestamp': timestamp,
          ...(secret === null ? {} : { 'x-almoner-signature': sign(secret, timestamp, body) }),
        };
      };
      const sent = await deliver({ method: 'POST', url: options.url, headers, body }, options.tries);
      if (!sent.ok)
        options.logger.warn(
          { realm: options.realm, event: notice.event, batch: notice.batch.batch, status: sent.status },
          'a webhook did not take a notice',
        );
    },
  };
}

export function sign(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

function payloadOf({ event, at, batch, link }: Notice) {
  const { state, reason, rows, counts, tokens, waiting, source, realm, rehearsal, createdBy } = batch;
  const facts = {
    batch: batch.batch,
    realm,
    rehearsal,
    source,
    state,
    reason,
    rows,
    counts,
    tokens,
    waiting,
    createdBy,
  };
  return { event, at, link, ...facts };
}
