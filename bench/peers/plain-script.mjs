// What a plain script does: read the CSV, 64 requests at a time with got, no memory of anything.
// argv: { file, realm: { url, key, realmId }, concurrency }
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import got from 'got';

const { file, realm, concurrency } = JSON.parse(process.argv[2]);
const rows = createReadStream(file).pipe(parse({ columns: true }));
const next = rows[Symbol.asyncIterator]();
let paid = 0;
let failed = 0;
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (;;) {
      const { value, done } = await next.next();
      if (done) return;
      const url = `${realm.url}/api/v4/realms/${realm.realmId}/members/${value.member}/tokenBalance`;
      await got
        .patch(url, {
          headers: { authorization: `Bearer ${realm.key}` },
          json: { tokens: Number(value.tokens) },
        })
        .json()
        .then(
          () => paid++,
          () => failed++,
        );
    }
  }),
);
console.log(JSON.stringify({ paid, failed, cpu: process.cpuUsage() }));
