import { createHmac } from 'node:crypto';
import { NOTICE_EVENTS, type NoticeEvent } from '../../core/notice-events.js';
import { type Notice, post, type Target } from './target.js';

/**
 * A webhook that posts JSON in the form of Standard Webhooks. `webhook-id` is the same at every try, and
 * `webhook-signature` holds the HMAC-SHA256 of `<id>.<timestamp>.<body>`. Verifiers exist for most languages.
 */
export type WebhookOptions = {
  readonly name: string;
  readonly url: string;
  /** Reads the secret at each use, so that a rotated one applies at the next try. Null: unsigned. */
  readonly secret: (() => string) | null;
  readonly events?: readonly NoticeEvent[] | null;
};

/** Makes a target that posts signed JSON. */
export function webhook({ name, url, secret, events }: WebhookOptions): Target {
  return {
    name,
    place: () => new URL(url).origin,
    wants: events ?? NOTICE_EVENTS,
    body: (notice) => JSON.stringify(payloadOf(notice)),
    async send({ id, body }, stop) {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
      let signed: Readonly<Record<string, string>> = {};
      try {
        if (secret !== null)
          signed = { 'webhook-signature': `v1,${signature(secret(), `${id}.${timestamp}.${body}`)}` };
      } catch {
        const why = 'its secret cannot be read; `almoner doctor` says why';
        return { ok: false, status: null, body: '', retryAfterMs: 0, why };
      }
      return post({ method: 'POST', url, headers: { ...headers, ...signed }, body }, stop);
    },
  };
}

/** Signs a text. A secret of `whsec_` and base64 follows the standard; any other text is the key itself. */
function signature(secret: string, text: string): string {
  const key = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret, 'utf8');
  return createHmac('sha256', key).update(text).digest('base64');
}

/** The body of a webhook, described in docs/reference/notices.md. */
function payloadOf({ at, matter, summary, link }: Notice) {
  const { event, realm, batch, rule, message, next, since } = matter;
  const data = { realm, batch, rule, message, next, since, link };
  if (summary === null) return { type: event, timestamp: at, data };
  const { state, reason, rows, counts, tokens, waiting, source, rehearsal, createdBy } = summary;
  const standing = { state, reason, rows, counts, tokens, waiting, source, rehearsal, createdBy };
  return { type: event, timestamp: at, data: { ...data, ...standing } };
}
