// Measures the cost of rate refusals when no header names the limit: one `almoner run` at 50/s, compared with a script
// that obeys Retry-After and learns nothing. BENCH_CASE picks one of the cases.
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openOperator } from './stage/almoner.mjs';
import { startCurtRealm } from './stage/curt-realm.mjs';
import { draws } from './stage/draws.mjs';
import { writeCsv } from './stage/files.mjs';
import { REALM_ID } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { median, printTable, QUICK, saveResult } from './stage/results.mjs';

const RATE = { requests: 50, windowMs: 1_000 };
const HOLD_MS = 1_000;
const MEMBERS = 400;
/** What is enough of a rate to say that it is used. */
const USED_SHARE = 0.9;
const SEED = 46;
const STRAYS = 0.02;

const isIn =
  (fromMs, toMs) =>
  ([at]) =>
    at >= fromMs && at < toMs;
const isTaken = ([, became]) => became === 'taken';

/** Of the requests from then on, until then: how many were taken a second, and how many were refused. */
function between(requests, fromMs, toMs) {
  const some = requests.filter(isIn(fromMs, toMs));
  const taken = some.filter(isTaken).length;
  return {
    perSecond: (taken * 1_000) / (toMs - fromMs),
    refused: some.length - taken,
    refusedPercent: (100 * (some.length - taken)) / Math.max(1, some.length),
  };
}

/** Taken a second by who meets the same strays, obeys every hold to its end, and otherwise goes at the rate. */
function bestAmongStrays(seconds) {
  const drawn = draws(SEED);
  let taken = 0;
  for (let ms = 0; ms < seconds * 1_000; ) {
    const isStray = drawn() < STRAYS;
    ms += isStray ? HOLD_MS : RATE.windowMs / RATE.requests;
    if (!isStray) taken += 1;
  }
  return taken / seconds;
}

/**
 * The four cases: how the service begins, what happens to it, how long all of it takes, and what is made of what it saw.
 * Times are from the first request on, by the service's clock.
 */
const CASES = {
  /** One request of fifty is refused whatever the rate. */
  strays: {
    set: { limit: RATE.requests, strays: STRAYS },
    seconds: QUICK ? 15 : 60,
    play: async () => {},
    figures({ requests, begin, end }) {
      const { perSecond, refused } = between(requests, begin, end);
      const best = bestAmongStrays((end - begin) / 1_000);
      return {
        'taken/s': perSecond,
        'best/s': best,
        'of it %': (100 * perSecond) / best,
        refused,
        aim: 'of it ≥ 80 %',
      };
    },
  },
  /** After ten seconds the service takes half, and says so to nobody. */
  halved: {
    set: { limit: RATE.requests },
    seconds: QUICK ? 45 : 130,
    async play(realm) {
      await sleep(QUICK ? 5_000 : 10_000);
      realm.set({ limit: RATE.requests / 2 });
    },
    figures({ requests, changes, end }) {
      const [, [halvedAt]] = changes;
      const minuteMs = QUICK ? 20_000 : 60_000;
      const found = between(requests, halvedAt, halvedAt + minuteMs);
      const then = between(requests, halvedAt + minuteMs, end);
      return {
        'taken/s': then.perSecond,
        'best/s': RATE.requests / 2,
        'of it %': (200 * then.perSecond) / RATE.requests,
        refused: then.refused,
        'refused %': then.refusedPercent,
        'refused in the first minute': found.refused,
        aim: 'first minute ≤ 10, then ≥ 90 % and < 1 % refused',
      };
    },
  },
  /** From the half back to all of it, over and over: how soon the rate is used again. */
  doubled: {
    set: { limit: RATE.requests },
    seconds: QUICK ? 45 : 125,
    async play(realm) {
      await sleep(5_000);
      for (let round = 0; round < (QUICK ? 1 : 3); round++) {
        realm.set({ limit: RATE.requests / 2 });
        await sleep(20_000);
        realm.set({ limit: RATE.requests });
        await sleep(20_000);
      }
    },
    figures({ requests, changes, end }) {
      const doubledAt = changes.slice(1).filter(([, { limit }]) => limit === RATE.requests);
      const windows = doubledAt.map(([at]) => windowsUntilUsed(requests, at));
      const last = between(requests, doubledAt.at(-1)[0] + 10 * RATE.windowMs, end);
      return {
        'taken/s': last.perSecond,
        'best/s': RATE.requests,
        'of it %': (100 * last.perSecond) / RATE.requests,
        refused: last.refused,
        'windows until used': median(windows),
        'at most': Math.max(...windows),
        aim: 'windows ≤ 10',
      };
    },
  },
  /** Somebody else takes a third, evenly, on the same limit. */
  another: {
    set: { limit: RATE.requests, othersEveryMs: (3 * RATE.windowMs) / RATE.requests },
    seconds: QUICK ? 20 : 70,
    play: async () => {},
    figures({ requests, others, begin, end }) {
      // As long again as a limit takes to be found.
      const from = begin + (QUICK ? 8_000 : 10_000);
      const { perSecond, refused, refusedPercent } = between(requests, from, end);
      const left = (2 * RATE.requests) / 3;
      return {
        'taken/s': perSecond,
        'best/s': left,
        'of it %': (100 * perSecond) / left,
        refused,
        'refused %': refusedPercent,
        'of others %': between(others, from, end).refusedPercent,
        aim: 'of it ≥ 90 %',
      };
    },
  },
};

/** Windows from that moment to the beginning of the first that is used; what never comes is infinite. */
function windowsUntilUsed(requests, fromMs) {
  const times = requests.filter(([at, became]) => at >= fromMs && became === 'taken').map(([at]) => at);
  const enough = Math.ceil(USED_SHARE * RATE.requests);
  const used = times.findIndex((at, i) => times[i + enough - 1] < at + RATE.windowMs);
  return used < 0 ? Number.POSITIVE_INFINITY : (times[used] - fromMs) / RATE.windowMs;
}

/** Each starts against the service and gives back how it is ended. */
const CONTESTANTS = {
  async 'almoner run'(realm, rows) {
    const redis = await startRedis();
    const place = await openOperator({
      realm,
      redisUrl: redis.url,
      rate: `${RATE.requests}/${RATE.windowMs / 1_000}s`,
    });
    const file = await writeCsv(join(place.folder, 'rows.csv'), rows, { members: MEMBERS });
    const { child, stderr } = place.start(['run', file, '--yes']);
    return {
      hasEnded: () => (child.exitCode === null ? null : stderr().slice(-2_000)),
      async end() {
        await place.close();
        await redis.stop();
      },
    };
  },
  async 'script that obeys Retry-After'(realm, rows) {
    const folder = await mkdtemp(join(tmpdir(), 'almoner-bench-'));
    const file = await writeCsv(join(folder, 'rows.csv'), rows, { members: MEMBERS });
    const script = fileURLToPath(new URL('peers/obedient-script.mjs', import.meta.url));
    const options = { file, realm: { url: realm.url, key: realm.key, realmId: REALM_ID }, rate: RATE };
    const child = fork(script, [JSON.stringify(options)]);
    return {
      hasEnded: () => (child.exitCode === null ? null : `status ${child.exitCode}`),
      async end() {
        child.kill('SIGKILL');
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

async function contest(name, { set, seconds, play, figures }) {
  const realm = await startCurtRealm({ windowMs: RATE.windowMs, seed: SEED, set });
  // More than can be sent, so that nobody runs out.
  const contestant = await CONTESTANTS[name](realm, (seconds + 10) * RATE.requests);
  try {
    await Promise.race([realm.first, sleep(30_000)]);
    const until = performance.now() + seconds * 1_000;
    await play(realm);
    await sleep(until - performance.now());
    const ended = contestant.hasEnded();
    if (ended !== null) throw new Error(`${name} ended on its way: ${ended}`);
    const seen = await realm.seen();
    const [[begin]] = seen.requests;
    return figures({ ...seen, begin, end: begin + seconds * 1_000 });
  } finally {
    await contestant.end();
    await realm.stop();
  }
}

const only = process.env.BENCH_CASE;
if (only !== undefined && !(only in CASES)) {
  console.error(`There is no case ${only}; there are ${Object.keys(CASES).join(', ')}.`);
  process.exit(2);
}
const cases = {};
for (const [name, one] of Object.entries(CASES)) {
  if (only !== undefined && name !== only) continue;
  const rows = [];
  for (const who of Object.keys(CONTESTANTS)) {
    const { aim, ...seen } = await contest(who, one);
    rows.push({ who, ...seen, aim });
    console.error(name, rows.at(-1));
  }
  printTable(`Refusals: ${name}`, rows);
  cases[name] = rows;
}
if (only === undefined) saveResult('refusals', { cases });
process.exit(0);
