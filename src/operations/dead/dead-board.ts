import type { BatchRef } from '../../ledger/index.js';
import { DeadLetters } from '../../queue/dead-letters.js';
import type { App } from '../../runtime/app.js';
import type { DeadLetter } from './dead-letters.js';

/**
 * The queue board's picture of the dead letters follows what a person did to them. The ledger was changed
 * first and is the truth; should this be cut off, the board shows an entry too many.
 */
export type BoardChange = {
  readonly ref: BatchRef;
  readonly index: number;
  /** What it is now; null: no longer a dead letter. */
  readonly now: DeadLetter | null;
};

const AT_ONCE = 64;

export async function followOnBoard(app: App, changes: readonly BoardChange[]): Promise<void> {
  const byRealm = new Map<string, BoardChange[]>();
  for (const change of changes) {
    const { id } = change.ref.ledger;
    byRealm.set(id, [...(byRealm.get(id) ?? []), change]);
  }
  for (const group of byRealm.values()) await follow(app, group);
}

async function follow(app: App, changes: readonly BoardChange[]): Promise<void> {
  const [first] = changes;
  if (first === undefined) return;
  const connection = app.store.connect('dead');
  const board = new DeadLetters(first.ref.ledger, connection);
  for (let from = 0; from < changes.length; from += AT_ONCE)
    await Promise.all(
      changes.slice(from, from + AT_ONCE).map(async ({ ref, index, now }) => {
        await board.remove({ no: ref.no, index });
        if (now !== null) board.post({ no: ref.no, index }, { ...now, message: now.message ?? '' });
      }),
    );
  await board.close();
  connection.disconnect();
}
