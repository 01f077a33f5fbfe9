import type { Books } from './books.js';
import { batchKeys } from './keys.js';

/** When read-back proves nothing: on a member let go of in doubt, for the settle time; in a batch, once it has ended. */

/** Said once, kept with the batch and in its audit. */
export async function endReadback(books: Books, no: string, message: string, at: number): Promise<boolean> {
  const { redis } = books.caller;
  const keys = batchKeys(books.realm, no);
  return books.caller.patiently('end read-back', async () => {
    if ((await redis.hsetnx(keys.meta, 'readbackEnded', message)) === 0) return false;
    await redis.rpush(
      keys.audit,
      JSON.stringify({ at, who: 'almoner', what: 'read-back ended', why: message }),
    );
    return true;
  });
}

/** The reason it ended, or null while it is sound. */
export async function readbackEnded(books: Books, no: string): Promise<string | null> {
  const { redis } = books.caller;
  return books.caller.patiently('read batch', () =>
    redis.hget(batchKeys(books.realm, no).meta, 'readbackEnded'),
  );
}
