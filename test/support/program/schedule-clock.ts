import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { openQueue } from '../../../src/queue/queues.js';
import { SCHEDULES_QUEUE } from '../../../src/queue/schedules.js';
import type { TestRedis } from '../redis-server.js';
import { until } from '../until.js';

/** The notes of a rule that hold times, and the names of those times. */
const NOTES = ['schedules', 'last', 'waiting'];
const TIMES = ['at', 'since', 'waitsSince', 'finishedAt'];

/**
 * Time passes for one rule: each time that the store has noted of its schedule becomes so much older, so that the newest
 * time of the schedule is due again. The clock is the machine's, and a test cannot step it.
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
 * Sends the wake-up that BullMQ sends at each time of a schedule, until the desk has noted something of the rule. A desk
 * that is still busy with an earlier look at the rule passes a wake-up over, and would look only half a minute later.
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
