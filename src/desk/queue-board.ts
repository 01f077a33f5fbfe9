import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { openLedger } from '../ledger/realm-ledger.js';
import { DEAD_QUEUE, ORDERS_QUEUE, openQueue } from '../queue/queues.js';
import { BoardAdapter } from './board-adapter.js';
import type { DeskDeps } from './deps.js';

/**
 * bull-board on the queues of the configured realms, to look at only: jobs are deliveries, and what is done
 * to an order is done through the ledger.
 */
export type QueueBoard = { readonly adapter: BoardAdapter; close(): Promise<void> };

export function openQueueBoard(parts: Pick<DeskDeps, 'scripts' | 'profiles' | 'connect'>): QueueBoard {
  const connection = parts.connect('board');
  const queues = parts.profiles.flatMap(({ name, baseUrl, realmId, rehearsal }) => {
    const ledger = openLedger(parts.scripts, { name, baseUrl, realmId, rehearsal });
    return [ORDERS_QUEUE, DEAD_QUEUE].map((queue) => ({
      realm: name,
      queue: openQueue<unknown>(ledger, queue, connection),
    }));
  });
  const adapter = new BoardAdapter();
  createBullBoard({
    queues: queues.map(
      ({ realm, queue }) =>
        new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false, prefix: `${realm}.` }),
    ),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'almoner queues',
        miscLinks: [{ text: 'Back to the desk', url: '/' }],
        hideRedisDetails: true,
      },
    },
  });
  return {
    adapter,
    async close() {
      await Promise.all(queues.map(({ queue }) => queue.close()));
      connection.disconnect();
    },
  };
}
