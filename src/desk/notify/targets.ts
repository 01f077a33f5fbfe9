import { createHmac, randomUUID } from 'node:crypto';
import type { App } from '../../runtime/app.js';
import type { Notifications, SecretSource } from '../../runtime/config/model.js';
import { readKey } from '../../runtime/config/secrets.js';
import { registerSecret } from '../../runtime/logger.js';
import type { Desk } from '../desk.js';
import { discord } from './discord.js';
import { DELIVERY_TRIES, deliver, type Notice, type Target, type TargetOptions } from './notice.js';
import { Notifier, toldNotes } from './notifier.js';

/** Notices to the places that the configuration names for each realm; null where it names none. */
export function startNotices(
  app: App,
  desk: Pick<Desk, 'board'>,
  options: { readonly env: NodeJS.ProcessEnv; readonly publicUrl: URL | null },
): { close(): Promise<void> } | null {
  if (app.config.notifications.length === 0) return null;
  const { logger } = app;
  const stop = new AbortController();
  const told = toldNotes(app.scripts);
  const common = { logger, tries: { ...DELIVERY_TRIES, stop: stop.signal } };
  const targetsOf = ({ profile, webhook: hook, discord: chat }: Notifications): Target[] => {
    const targets: Target[] = [];
    if (hook !== null) {
      const { url, secret } = hook;
      const read = secret === null ? null : () => secretAt(secret, options.env);
      targets.push(webhook({ ...common, url, secret: read, realm: profile }));
    }
    if (chat !== null) {
      const url = () => secretAt(chat, options.env);
      targets.push(discord({ ...common, url, realm: profile, messages: told.messages }));
    }
    return targets;
  };
  const notifier = new Notifier({
    board: desk.board,
    told,
    targets: new Map(app.config.notifications.map((each) => [each.profile, targetsOf(each)])),
    link: (batch) => (options.publicUrl === null ? null : `${options.publicUrl.origin}/batches/${batch}`),
    logger,
  });
  return {
    async close() {
      // A target that does not answer must not hold up the end; the next desk knows what was told.
      stop.abort();
      await notifier.close();
    },
  };
}

function secretAt(source: SecretSource, env: NodeJS.ProcessEnv): string {
  const secret = readKey(source, env);
  registerSecret(secret);
  return secret;
}

/**
 * JSON by POST. With a secret the body is signed: `x-almoner-signature: sha256=<hex>` is the HMAC-SHA256 of
 * `<x-almoner-timestamp>.<body>`; the timestamp inside the signature lets the receiver refuse old copies.
 */
type WebhookOptions = TargetOptions & {
  readonly url: string;
  /** Read when it is used, so that a rotated secret counts at the next notice; null: not signed. */
  readonly secret: (() => string) | null;
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

function sign(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

function payloadOf({ event, at, batch, link }: Notice) {
  const { state, reason, rows, counts, tokens, waiting, source, realm, rehearsal, createdBy } = batch;
  const standing = { state, reason, rows, counts, tokens, waiting, createdBy };
  return { event, at, link, batch: batch.batch, realm, rehearsal, source, ...standing };
}
