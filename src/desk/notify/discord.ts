import type { Logger } from 'pino';
import { z } from 'zod';
import { type DeliverOptions, deliver } from './deliver.js';
import { messageText } from './message-text.js';
import { keyOf, type Notice, type Target } from './notice.js';

/**
 * One chat message per batch, edited in place: posted with `?wait=true`, which answers its id, and patched
 * from then on. The id is kept in the store, so that a restarted desk goes on editing the same message; one
 * that somebody deleted is posted anew.
 */
export type DiscordOptions = {
  /** The URL is itself the secret: read when used, and never logged. */
  readonly url: () => string;
  readonly realm: string;
  readonly messages: {
    get(key: string): Promise<string | null>;
    put(key: string, id: string): Promise<void>;
  };
  readonly logger: Logger;
  readonly tries: DeliverOptions;
};

const posted = z.object({ id: z.string().regex(/^[\w-]{1,64}$/) });

export function discord(options: DiscordOptions): Target {
  return {
    wants: ['progress', 'finished', 'halted', 'doubt', 'missing-session'],
    async send(notice) {
      const key = keyOf(notice.batch);
      const known = await options.messages.get(key);
      const edited = known === null ? null : await request(options, notice, known);
      if (edited?.ok) return;
      if (edited !== null && edited.status !== 404) return complain(options, notice, edited.status);
      const sent = await request(options, notice, null);
      if (!sent.ok) return complain(options, notice, sent.status);
      const id = idIn(sent.body);
      if (id !== null) await options.messages.put(key, id);
    },
  };
}

function request(options: DiscordOptions, notice: Notice, message: string | null) {
  const url = new URL(options.url());
  if (message === null) url.searchParams.set('wait', 'true');
  else url.pathname = `${url.pathname.replace(/\/$/, '')}/messages/${message}`;
  // Names of files and people are not allowed to call anybody.
  const body = JSON.stringify({ content: messageText(notice), allowed_mentions: { parse: [] } });
  const method = message === null ? 'POST' : 'PATCH';
  return deliver({ method, url: url.href, headers: () => ({}), body }, options.tries);
}

function idIn(body: string): string | null {
  try {
    return posted.parse(JSON.parse(body)).id;
  } catch {
    return null;
  }
}

function complain({ realm, logger }: DiscordOptions, notice: Notice, status: number | null): void {
  logger.warn(
    { realm, event: notice.event, batch: notice.batch.batch, status },
    'the chat did not take a notice',
  );
}
