import { randomUUID } from 'node:crypto';
import type { App } from '../../runtime/app.js';
import type { Notifications, SecretSource } from '../../runtime/config/model.js';
import { readKey } from '../../runtime/config/secrets.js';
import { registerSecret } from '../../runtime/logger.js';
import { isoTime } from '../../words/spelling.js';
import { noticeId } from '../live/matters.js';
import type { OverviewBoard } from '../live/overview.js';
import { discord } from './discord.js';
import { announcedNotes, messageFor, Notifier } from './notifier.js';
import { Outbox } from './outbox.js';
import type { Target } from './target.js';
import { webhook } from './webhook.js';

/** Opens the configured targets and the outbox of messages to them. */
export function openNotices(
  app: App,
  options: { readonly env: NodeJS.ProcessEnv; readonly lookEveryMs: number },
) {
  const { logger, scripts, config } = app;
  const stop = new AbortController();
  const { messages } = announcedNotes(scripts);
  const byRealm = new Map(
    config.notifications.map((each) => [each.profile, targetsOf(each, options.env, messages)]),
  );
  const targets = [...byRealm.values()].flat();
  const outbox = new Outbox(scripts, { targets, logger, stop: stop.signal });

  return {
    targets,
    outbox,
    /** Sends a test message to one target. A realm without a target of its own uses the common ones. */
    async test(target: Target, who: string): Promise<string> {
      const matter = { event: 'test', subject: 'a test', realm: null, batch: null, rule: null } as const;
      const at = isoTime(Date.now());
      const id = noticeId(target.name, { ...matter, mark: randomUUID(), since: at });
      const said = { message: `${who} sent this test from the desk.`, next: null, since: at };
      const notice = { at, matter: { ...matter, ...said }, summary: null, link: null };
      await outbox.put({ ...messageFor(target, notice), id, thread: null });
      return id;
    },
    /** Looks for alerts and sends messages until it is closed. */
    start(board: OverviewBoard, publicUrl: URL | null): { close(): Promise<void> } {
      if (targets.length === 0) return { close: async () => {} };
      const notifier = new Notifier({
        board,
        scripts,
        outbox,
        targets: (realm) =>
          (realm === null ? undefined : byRealm.get(realm)) ??
          byRealm.get(null) ??
          (realm === null ? targets : []),
        link: (path) => (publicUrl === null ? null : `${publicUrl.origin}${path}`),
        logger,
        stop: stop.signal,
        lookEveryMs: options.lookEveryMs,
      });
      return {
        async close() {
          // A target that does not answer must not delay the end. The outbox keeps its messages.
          stop.abort();
          await notifier.close();
        },
      };
    },
  };
}

/** The targets of one realm's profile, or of the common configuration. */
function targetsOf(
  { profile, webhook: hook, discord: chat, events }: Notifications,
  env: NodeJS.ProcessEnv,
  messages: ReturnType<typeof announcedNotes>['messages'],
): Target[] {
  const whose = profile ?? 'all realms';
  const found: Target[] = [];
  if (hook !== null) {
    const { url, secret } = hook;
    const read = secret === null ? null : () => secretAt(secret, env);
    found.push(webhook({ name: `${whose}: webhook`, url, secret: read, events }));
  }
  if (chat !== null) {
    const url = () => secretAt(chat, env);
    found.push(discord({ name: `${whose}: Discord`, url, messages, events }));
  }
  return found;
}

/** Reads a secret from its environment variable or file. */
function secretAt(source: SecretSource, env: NodeJS.ProcessEnv): string {
  const secret = readKey(source, env);
  registerSecret(secret);
  return secret;
}
