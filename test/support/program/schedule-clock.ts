import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { openQueue } from '../../../src/queue/queues.js';
import { SCHEDULES_QUEUE } from '../../../src/queue/schedules.js';
import type { TestRedis } from '../redis-server.js';
import { until } from '../until.js';

/** The keys of a rule that hold times, and the names of those times. */
const NOTES = ['schedules', 'last', 'waiting'];
const TIMES = ['at', 'since', 'waitsSince', 'finishedAt'];

/**
 * Makes each stored time of a rule's schedule that much older, so that the newest time of the schedule is due again.
 * The real clock is the machine's, and a test cannot step it.
 */
export async function timePasses(
  { keyPrefix }: RealmLedger,
  store: TestRedis,
  rule: string,
  ms: number,
): Promise<void> {
  const client = store.client();
  for (const name of NOTES) {
    const key = `${keyPrefix}:rules:${name}`;
    const note = await client.hget(key, rule);
    if (note === null) continue;
    const older = JSON.stringify(JSON.parse(note), (field, value: unknown) =>
      TIMES.includes(field) && typeof value === 'number' ? value - ms : value,
    );
    await client.hset(key, rule, older);
  }
}

/**
 * Sends the wake-up that BullMQ sends at each time of a schedule, until the desk has recorded an outcome for the rule.
 * A desk that is still busy with an earlier look skips a wake-up, and would look again only after half a minute.
 */
export async function wakeUntilNoted(ledger: RealmLedger, store: TestRedis, rule: string): Promise<void> {
  const client = store.client();
  const noted = async () =>
    JSON.stringify(
      await Promise.all(NOTES.map((name) => client.hget(`${ledger.keyPrefix}:rules:${name}`, rule))),
    );
  const before = await noted();
  const queue = openQueue(ledger, SCHEDULES_QUEUE, client);
  const wake = async () => {
    if ((await noted()) !== before) return true;
    await queue.add('wake', { rule }, { removeOnComplete: true });
    return false;
  };
  await until(`the desk to look at ${rule}`, wake, 20_000, 100);
  await queue.close();
}
