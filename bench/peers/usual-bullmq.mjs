// The usual BullMQ way: one job a row with its data, a worker of 64, got, three attempts. No ledger.
// argv: { file, redisUrl, realm: { url, key, realmId }, concurrency }
import { createReadStream } from 'node:fs';
import { Queue, Worker } from 'bullmq';
import { parse } from 'csv-parse';
import got from 'got';
import { Redis } from 'ioredis';

const { file, redisUrl, realm, concurrency } = JSON.parse(process.argv[2]);
const connection = () => new Redis(redisUrl, { maxRetriesPerRequest: null });
const queue = new Queue('usual', { connection: connection() });
let rows = 0;
let some = [];
const add = async () => {
  const batch = some;
  some = [];
  await queue.addBulk(batch);
};
for await (const row of createReadStream(file).pipe(parse({ columns: true }))) {
  rows += 1;
  some.push({ name: 'pay', data: row, opts: { attempts: 3, removeOnComplete: true } });
  if (some.length === 1000) await add();
}
await add();

let settled = 0;
await new Promise((resolve) => {
  const worker = new Worker(
    'usual',
    async ({ data }) => {
      const url = `${realm.url}/api/v4/realms/${realm.realmId}/members/${data.member}/tokenBalance`;
      return got
        .patch(url, {
          headers: { authorization: `Bearer ${realm.key}` },
          json: { tokens: Number(data.tokens) },
        })
        .json();
    },
    { connection: connection(), concurrency },
  );
  const count = () => {
    settled += 1;
    if (settled === rows) resolve();
  };
  worker.on('completed', count);
  worker.on('failed', count);
});
console.log(JSON.stringify({ paid: settled, cpu: process.cpuUsage() }));
process.exit(0);
