import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import type { TestRedis } from '../redis-server.js';

/** Stores that refuse the calls of one worker and answer all other clients. */

const USER = 'clerk';

/** A connection of a user who can lose the right to run scripts. The server then answers NOPERM. */
export async function clerkOf(redis: TestRedis) {
  const admin = redis.client();
  await admin.call('ACL', 'SETUSER', USER, 'on', '>secret', '~*', '&*', '+@all');
  const client = new Redis({ port: redis.port, username: USER, password: 'secret', maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  const allow = () => admin.call('ACL', 'SETUSER', USER, '+evalsha', '+eval');
  const refuse = () => admin.call('ACL', 'SETUSER', USER, '-evalsha', '-eval');
  onTestFinished(async () => {
    client.disconnect();
    await admin.call('ACL', 'DELUSER', USER);
  });
  return { client, allow, refuse };
}

/** A script call by name, with the indexes of its orders if it has a list of them. */
export type Call = { readonly name: 'settle' | 'begin' | 'other'; readonly indexes: readonly number[] };

/**
 * A connection on which `refuse` decides for each call. `before`: the call never reaches the server. `after`: the
 * script runs, and the caller gets an error that the program does not list.
 */
export function pickyClient(redis: TestRedis, refuse: (call: Call) => 'before' | 'after' | null): Redis {
  const client = redis.client();
  const { evalsha, eval: run } = client;
  for (const [name, ask] of Object.entries({ evalsha, eval: run }))
    Reflect.set(client, name, async (...args: unknown[]): Promise<unknown> => {
      const how = refuse(callOf(args));
      const answer: unknown = how === 'before' ? null : await Reflect.apply(ask, client, args);
      if (how === null) return answer;
      throw Object.assign(new Error('WEIRD nothing that anybody has heard of'), { name: 'ReplyError' });
    });
  return client;
}

/** Settle takes thirteen fields for each order, and begin takes eleven. */
function callOf(args: readonly unknown[]): Call {
  const last = String(args.at(-1));
  if (!last.startsWith('[[')) return { name: 'other', indexes: [] };
  const list: unknown[][] = JSON.parse(last);
  const name = list[0]?.length === 13 ? 'settle' : list[0]?.length === 11 ? 'begin' : 'other';
  return { name, indexes: list.map((order) => Number(order[1])) };
}
