// The realm service as a process of its own, so that its work is nobody else's. Its limit can be changed
// while it runs: { "rate": { "requests", "windowMs" } } as a message. Asked by any other message, it tells when
// each request came that it did not refuse for its rate, and how many it did.
import { subscribe } from 'node:diagnostics_channel';
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
const cameAt = new WeakMap();
const seen = { times: [], limited: 0 };
subscribe('http.server.request.start', ({ request }) => cameAt.set(request, Date.now()));
subscribe('http.server.response.finish', ({ request, response }) => {
  if (response.statusCode === 429) seen.limited += 1;
  else seen.times.push(cameAt.get(request));
});
process.on('message', (message) => {
  if (message.rate) Object.assign(limit, message.rate);
  else process.send(seen);
});
process.on('disconnect', () => process.exit(0));
process.send({ url: listening.url, key });
