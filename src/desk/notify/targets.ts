import type { App } from '../../runtime/app.js';
import type { Notifications, SecretSource } from '../../runtime/config/model.js';
import { readKey } from '../../runtime/config/secrets.js';
import { registerSecret } from '../../runtime/logger.js';
import type { Desk } from '../desk.js';
import { discord } from './discord.js';
import { DELIVERY_TRIES, type Target } from './notice.js';
import { Notifier, toldNotes } from './notifier.js';
import { webhook } from './webhook.js';

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
  const tries = { ...DELIVERY_TRIES, stop: stop.signal };
  const targetsOf = ({ profile, webhook: hook, discord: chat }: Notifications): Target[] => {
    const targets: Target[] = [];
    if (hook !== null) {
      const { url, secret } = hook;
      const read = secret === null ? null : () => secretAt(secret, options.env);
      targets.push(webhook({ url, secret: read, realm: profile, logger, tries }));
    }
    if (chat !== null)
      targets.push(
        discord({
          url: () => secretAt(chat, options.env),
          realm: profile,
          messages: told.messages,
          logger,
          tries,
        }),
      );
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
