// The desk answers while it plans a rule over many members and makes the batch: how long /health takes, beside
// a desk that does nothing, asked in turn by the same process at the same time.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openOperator, peakMegabytes } from './stage/almoner.mjs';
import { REALM_ID } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { printTable, QUICK, saveResult } from './stage/results.mjs';

const MEMBERS = QUICK ? 20_000 : 200_000;
const ASKED_EVERY_MS = 10;
const LIMIT_MS = 200;
const nowhere = { url: 'http://127.0.0.1:9', key: 'a-key-that-is-never-used' };

async function startDesk() {
  const redis = await startRedis();
  const operator = await openOperator({ realm: nowhere, redisUrl: redis.url });
  const jobs = join(operator.folder, 'jobs');
  await mkdir(jobs);
  const rows = Array.from(
    { length: MEMBERS },
    (_, i) => `${119_032_211_700_000 + i * 7},${i % 100},name ${i}`,
  );
  await writeFile(join(jobs, 'audience.csv'), `member,score,name\n${rows.join('\n')}\n`);
  await writeFile(
    join(jobs, 'large.yaml'),
    [
      'name: large',
      `realm: ${REALM_ID}`,
      'period: month',
      'audience: { file: audience.csv }',
      'condition: row.score >= 10 && row.name.startsWith("name")',
      'award: { tokens: row.score * 1.05, rounding: floor }',
      'limits: { perMember: 500, cut: [perMember] }',
      'reason: Large',
    ].join('\n'),
  );
  const turns = join(operator.folder, 'turns');
  const preload = fileURLToPath(new URL('stage/turns-preload.mjs', import.meta.url));
  const served = operator.start(['serve', '--port', '0', '--json'], {
    nodeArgs: ['--import', preload],
    more: { TURNS_FILE: turns },
  });
  const ready = await new Promise((resolve, reject) => {
    served.child.stdout.once('data', (chunk) => resolve(JSON.parse(String(chunk))));
    served.ended.then(({ stderr }) => reject(new Error(stderr)));
  });
  const call = async (path, body) => {
    const reply = await fetch(`${ready.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${ready.token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await reply.json();
    if (!reply.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    ...ready,
    call,
    pid: served.child.pid,
    /** The most processor time between two turns of the event loop since then. */
    async longestTurnMs(since) {
      const lines = (await readFile(turns, 'utf8')).trim().split('\n');
      const times = lines.map((line) => line.split(' ').map(Number)).filter(([at]) => at >= since);
      return Math.max(...times.map(([, ms]) => ms));
    },
    async task(path, body) {
      let task = await call(path, body);
      while (task.state === 'running') {
        await new Promise((resolve) => setTimeout(resolve, 250));
        task = await call(`/api/tasks/${task.task}`);
      }
      if (task.error !== null) throw new Error(JSON.stringify(task.error));
      return task.result;
    },
    async close() {
      await operator.close();
      await redis.stop();
    },
  };
}

/** Asks one desk for its health until told to stop. */
function watch({ url }) {
  const times = [];
  let on = true;
  const asking = (async () => {
    while (on) {
      const begin = performance.now();
      await (await fetch(`${url}/health`)).text();
      times.push(performance.now() - begin);
      await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
    }
  })();
  return async () => {
    on = false;
    await asking;
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
    return { asked: times.length, 'median ms': at(0.5), 'p99 ms': at(0.99), 'worst ms': times.at(-1) };
  };
}

const busy = await startDesk();
const idle = await startDesk();
const rows = [];
async function phase(name, work) {
  const watches = [watch(busy), watch(idle)];
  const since = Date.now();
  const begin = performance.now();
  const result = await work();
  const seconds = (performance.now() - begin) / 1000;
  const [planning, beside] = await Promise.all(watches.map((end) => end()));
  rows.push(
    { desk: name, seconds, ...planning, 'longest turn, CPU ms': await busy.longestTurnMs(since) },
    {
      desk: 'an idle one beside it',
      seconds,
      ...beside,
      'longest turn, CPU ms': await idle.longestTurnMs(since),
    },
  );
  return result;
}
try {
  const { plan } = await phase('planning', () => busy.task('/api/rules/large/plan', {}));
  const page = await busy.call(`/api/rule-plans/${plan}?limit=1`);
  const body = { plan, members: page.awarded, tokens: page.tokens };
  await phase('making the batch', () => busy.task('/api/rules/large/run', body));
  printTable(`The desk while a rule over ${MEMBERS.toLocaleString('en')} members is planned`, rows);
  const peakMb = await peakMegabytes(busy.pid);
  console.log(`peak memory of the desk: ${Math.round(peakMb)} MB`);
  if (!QUICK) saveResult('planning', { members: MEMBERS, rows, peakMb });
  // The answers show the machine's other work as well; the turns show the desk's alone.
  const longest = Math.max(...rows.map((row) => row['longest turn, CPU ms']));
  if (longest > LIMIT_MS) throw new Error(`the desk was busy for ${Math.round(longest)} ms at a stretch`);
} finally {
  await busy.close();
  await idle.close();
}
