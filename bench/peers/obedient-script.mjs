// A script that obeys and learns nothing: it sends evenly at the configured rate with got, pauses for each Retry-After,
// and resends refused requests. argv: { file, realm: { url, key, realmId }, rate }
import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse';
import got from 'got';

const { file, realm, rate } = JSON.parse(process.argv[2]);
process.on('disconnect', () => process.exit(0));
const rows = createReadStream(file)
  .pipe(parse({ columns: true }))
  [Symbol.asyncIterator]();
const everyMs = rate.windowMs / rate.requests;
const again = [];
let nextAt = performance.now();
let holdUntil = 0;

async function send(row) {
  const answer = await got.patch(
    `${realm.url}/api/v4/realms/${realm.realmId}/members/${row.member}/tokenBalance`,
    {
      headers: { authorization: `Bearer ${realm.key}`, 'idempotency-key': row.reference },
      json: { tokens: Number(row.tokens) },
      throwHttpErrors: false,
      retry: { limit: 0 },
    },
  );
  if (answer.statusCode === 200) return;
  if (answer.statusCode !== 429) throw new Error(`the realm answered ${answer.statusCode}`);
  again.push(row);
  holdUntil = Math.max(holdUntil, performance.now() + Number(answer.headers['retry-after']) * 1000);
}

for (;;) {
  const row = again.shift() ?? (await rows.next()).value;
  if (row === undefined) break;
  for (;;) {
    const waitMs = Math.max(nextAt, holdUntil) - performance.now();
    if (waitMs <= 0) break;
    await sleep(waitMs);
  }
  // A timer that was a little late does not shift the others; after a hold it begins anew, without a burst.
  const now = performance.now();
  nextAt = (now - nextAt > everyMs ? now : nextAt) + everyMs;
  void send(row);
}
