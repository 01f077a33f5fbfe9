import type { Redis } from 'ioredis';

/** Redis failed under a command. `sent`: the command may have reached it, so a change may have been made. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super(sent ? 'the store failed under a command' : 'the store was not reachable', { cause });
    this.sent = sent;
  }
}

/**
 * Runs a command and names its failure. The connection has no offline queue, so a command given to it
 * while it is down was certainly never sent.
 */
export async function asking<T>(redis: Redis, command: () => Promise<T>): Promise<T> {
  const ready = redis.status === 'ready';
  try {
    return await command();
  } catch (cause) {
    throw new StoreFailure(ready, cause);
  }
}
