// The realm service as a process of its own, so that its work is nobody else's. Its limit can be changed
// while it runs: { "rate": { "requests", "windowMs" } } as a message.
import { Redis } from 'ioredis';
import { load } from './dist.mjs';

const { createRealmService } = await load('realm/server/service.js');
const { createRealmAdmin } = await load('realm/server/admin.js');
const { url, realmId, rate } = JSON.parse(process.argv[2]);
const redis = new Redis(url);
const admin = createRealmAdmin(redis);
const key = await admin.issueKey(realmId);
const limit = rate === null ? undefined : { ...rate };
const service = createRealmService({ redis, ...(limit && { rateLimit: limit }) });
const listening = await service.listen({ host: '127.0.0.1', port: 0 });
process.on('message', (message) => {
  if (limit) Object.assign(limit, message.rate);
});
process.on('disconnect', () => process.exit(0));
process.send({ url: listening.url, key });
