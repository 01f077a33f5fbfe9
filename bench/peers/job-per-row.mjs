// The plain way to enqueue a file: csv-parse into one BullMQ job a row. argv: { file, redisUrl }
import { createReadStream } from 'node:fs';
import { Queue } from 'bullmq';
import { parse } from 'csv-parse';
import { Redis } from 'ioredis';

const { file, redisUrl } = JSON.parse(process.argv[2]);
const queue = new Queue('rows', { connection: new Redis(redisUrl, { maxRetriesPerRequest: null }) });
let some = [];
for await (const row of createReadStream(file).pipe(parse({ columns: true }))) {
  some.push({ name: 'pay', data: row, opts: { attempts: 3 } });
  if (some.length === 1000) {
    await queue.addBulk(some);
    some = [];
  }
}
await queue.addBulk(some);
await queue.close();
process.exit(0);
