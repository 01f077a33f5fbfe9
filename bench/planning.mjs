// Measures how long /health takes while the desk plans a rule over many members and makes the batch, compared with an
// idle desk. One process asks both in turn at the same time.
import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { openOperator, peakMegabytes } from './stage/almoner.mjs';
import { REALM_ID } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { printTable, QUICK, saveResult } from './stage/results.mjs';

const MEMBERS = QUICK ? 20_000 : 200_000;
const RUNS = QUICK ? 1 : 3;
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
  const served = operator.start(['serve', '--port', '0', '--json']);
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

/** Asks one desk for its health until told to stop; gives when each answer was asked for and how long it took. */
function watch({ url }) {
  const answers = [];
  let on = true;
  const asking = (async () => {
    while (on) {
      const at = performance.now();
      await (await fetch(`${url}/health`)).text();
      answers.push({ at, ms: performance.now() - at });
      await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
    }
  })();
  return async () => {
    on = false;
    await asking;
    return answers;
  };
}

const isLate = ({ ms }) => ms >= LIMIT_MS;

/**
 * An answer that is late is the machine's doing only as far as the idle desk beside it was late in the same moments:
 * what it took beyond the slowest answer of that one must still be within the limit.
 */
function lateByItself(answers, idle) {
  return answers.filter(isLate).filter(({ at, ms }) => {
    const beside = idle.filter((other) => isLate(other) && other.at < at + ms && at < other.at + other.ms);
    return ms - Math.max(0, ...beside.map((other) => other.ms)) >= LIMIT_MS;
  });
}

function rowOf(desk, answers, idle) {
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return {
    desk,
    asked: times.length,
    'median ms': at(0.5),
    'p99 ms': at(0.99),
    'worst ms': times.at(-1),
    late: answers.filter(isLate).length,
    'late by itself': idle === null ? null : lateByItself(answers, idle).length,
  };
}

async function phase(name, { busy, idle }, work) {
  const load = Number(loadavg()[0].toFixed(2));
  const watches = [watch(busy), watch(idle)];
  const begin = performance.now();
  const result = await work();
  const seconds = (performance.now() - begin) / 1000;
  const [answers, beside] = await Promise.all(watches.map((end) => end()));
  const rows = [rowOf(name, answers, beside), rowOf('an idle one beside it', beside, null)];
  return { result, rows: rows.map(({ desk, ...row }) => ({ desk, load, seconds, ...row })) };
}

async function planAndRun() {
  const desks = { busy: await startDesk(), idle: await startDesk() };
  const { busy, idle } = desks;
  try {
    const planned = await phase('planning', desks, () => busy.task('/api/rules/large/plan', {}));
    const { plan } = planned.result;
    const page = await busy.call(`/api/rule-plans/${plan}?limit=1`);
    const body = { plan, members: page.awarded, tokens: page.tokens };
    const made = await phase('making the batch', desks, () => busy.task('/api/rules/large/run', body));
    return { rows: [...planned.rows, ...made.rows], peakMb: await peakMegabytes(busy.pid) };
  } finally {
    await busy.close();
    await idle.close();
  }
}

const runs = [];
while (runs.length < RUNS) {
  runs.push(await planAndRun());
  const { rows, peakMb } = runs.at(-1);
  const title = `The desk while a rule over ${MEMBERS.toLocaleString('en')} members is planned, run ${runs.length}`;
  printTable(title, rows);
  console.log(`peak memory of the desk: ${Math.round(peakMb)} MB`);
}
saveResult('planning', { members: MEMBERS, limitMs: LIMIT_MS, runs });
const working = runs.flatMap(({ rows }) => rows).filter((row) => row['late by itself'] !== null);
const sum = (column) => working.reduce((total, row) => total + row[column], 0);
const [late, byItself] = [sum('late'), sum('late by itself')];
console.log(
  late === 0
    ? `every answer of the working desk came within ${LIMIT_MS} ms`
    : `${late} answers of the working desk took ${LIMIT_MS} ms or more; ${late - byItself} of them in moments when the idle one was as late (the machine's doing), ${byItself} by itself`,
);
if (byItself > 0) process.exitCode = 1;
