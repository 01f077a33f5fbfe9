import { once } from 'node:events';
import { registerRealm } from '../../ledger/books.js';
import { Crew } from '../../queue/crew.js';
import type { App } from '../app.js';

/** The imported batches of every configured realm, each at its own pace, until stopped. */
export async function workRealms(
  app: App,
  options: { concurrency: number; stop: AbortSignal; onReady: () => void },
): Promise<void> {
  const session = await app.session('worker');
  const crews: Crew[] = [];
  for (const profile of app.config.profiles) {
    const realm = await app.realm(profile);
    await registerRealm(realm.books);
    const crew = new Crew({
      books: realm.books,
      profile,
      client: realm.client,
      session,
      run: null,
      concurrency: options.concurrency,
      connect: (use) => app.store.connect(use),
      onStalled: (error) => app.fail(error),
      limits: app.config.limits,
      onTrouble: (message) => app.logger.warn({ realm: profile.name, message }, 'trouble'),
    });
    await crew.start();
    crews.push(crew);
  }
  options.onReady();
  const stop = AbortSignal.any([options.stop, app.failed]);
  if (!stop.aborted) await once(stop, 'abort');
  await Promise.all(crews.map((crew) => crew.stop()));
  app.failed.throwIfAborted();
}
