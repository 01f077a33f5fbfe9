// The usual way to keep to a rate with BullMQ: its own limiter. One worker process; two are started on the
// same queue, as ours are. argv: { redisUrl, limiter, realm: { url, key, realmId } }
import { Worker } from 'bullmq';
import got from 'got';
import { Redis } from 'ioredis';

const { redisUrl, queue, limiter, realm } = JSON.parse(process.argv[2]);
let limited = 0;
let paid = 0;
const latencies = [];
const worker = new Worker(
  queue,
  async (job) => {
    for (;;) {
      const begin = performance.now();
      const answer = await got.patch(
        `${realm.url}/api/v4/realms/${realm.realmId}/members/${job.data.member}/tokenBalance`,
        {
          headers: { authorization: `Bearer ${realm.key}` },
          json: { tokens: job.data.tokens },
          throwHttpErrors: false,
          retry: { limit: 0 },
        },
      );
      latencies.push(performance.now() - begin);
      if (answer.statusCode !== 429) break;
      limited += 1;
      await new Promise((resolve) => setTimeout(resolve, Number(answer.headers['retry-after'] ?? 1) * 1000));
    }
    paid += 1;
    return null;
  },
  {
    connection: new Redis(redisUrl, { maxRetriesPerRequest: null }),
    concurrency: 64,
    limiter,
    removeOnComplete: { count: 0 },
  },
);
worker.on('error', () => {});
process.on('message', () => process.send({ limited, paid, latencies }));
process.on('disconnect', () => process.exit(0));
await worker.waitUntilReady();
process.send('ready');
