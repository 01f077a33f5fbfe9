// Measures the store's cost of the last call before a request: the send script for ten orders at once, with and without
// each of its further checks, in turn on the same ledger.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { openOperator } from './stage/almoner.mjs';
import { load } from './stage/dist.mjs';
import { writeCsv } from './stage/files.mjs';
import { startRedis } from './stage/redis.mjs';
import { median, printTable, QUICK, saveResult } from './stage/results.mjs';

const ORDERS = QUICK ? 2_000 : 40_000;
const AT_ONCE = 10;
const SESSION = 'bench';

const { LEDGER_SCRIPTS } = await load('ledger/lua-scripts.js');
const { referenceKey } = await load('ledger/reference.js');
const whole = LEDGER_SCRIPTS.get('begin-sending').text;
const VARIANTS = {
  'as it is': whole,
  'without the reference': without(
    whole,
    "local holder = shard ~= '' and otherHolder(",
    'local holder = false and otherHolder(',
  ),
  'without what journals brought back': without(
    whole,
    "if redis.call('EXISTS', T .. ':debts', T .. ':alike', T .. ':undoes') > 0 then",
    'if false then',
  ),
  'without the session': without(
    whole,
    "return forgetsSession(T, session, begun) and 'rollback' or nil",
    'return nil',
  ),
  'without the settle time': without(whole, "redis.call('HGET', T, 'settleMs') or '0'", "'0'"),
};

function without(text, find, put) {
  if (text.split(find).length !== 2) throw new Error(`the send script does not hold ${find} once`);
  return text.replace(find, put);
}

const redis = await startRedis();
const operator = await openOperator({
  realm: { url: 'http://127.0.0.1:9', key: 'key-of-the-bench' },
  redisUrl: redis.url,
});
try {
  const file = await writeCsv(join(operator.folder, 'file.csv'), ORDERS);
  await operator.json('import', file, '--yes');
  const { client } = redis;
  // From here on only the scripts are measured, not the disk.
  await client.config('SET', 'appendonly', 'no');
  const [, T] = /(almoner:\{\w+\})/.exec((await client.keys('almoner:{*')).join(' '));
  await client.hset(`${T}:begun`, SESSION, '0');
  const feed = LEDGER_SCRIPTS.get('feed').text;
  const fed = [];
  while (fed.length < ORDERS)
    fed.push(
      ...(
        await client.eval(
          feed,
          1,
          T,
          JSON.stringify([['1', ORDERS]]),
          String(ORDERS),
          '',
          '0',
          '',
          SESSION,
          '0',
        )
      )[0],
    );
  const names = Object.keys(VARIANTS);
  const shas = new Map();
  for (const name of names) {
    await client.script('LOAD', VARIANTS[name]);
    shas.set(name, createHash('sha1').update(VARIANTS[name]).digest('hex'));
  }
  const times = new Map(names.map((name) => [name, []]));
  let began = 0;
  for (let at = 0; at + AT_ONCE <= fed.length; at += AT_ONCE) {
    const name = names[(at / AT_ONCE) % names.length];
    const orders = fed.slice(at, at + AT_ONCE).map((index) => orderAt(Number(index)));
    const args = ['0', '', SESSION, '0', '0', '', '', JSON.stringify(orders)];
    const since = performance.now();
    const reply = await client.evalsha(shas.get(name), 1, T, ...args);
    times.get(name).push(performance.now() - since);
    began += JSON.parse(reply).filter(([answer]) => answer === 'go').length;
  }
  const [first] = names;
  const base = median(times.get(first));
  const rows = names.map((name) => ({
    'send script': name,
    'µs an order': (1_000 * median(times.get(name))) / AT_ONCE,
    share: median(times.get(name)) / base,
  }));
  printTable(`${began} orders, ${AT_ONCE} in a call`, rows);
  saveResult('begin', { orders: began, atOnce: AT_ONCE, rows });
} finally {
  await operator.close();
  await redis.stop();
}

function orderAt(index) {
  const { shard, fieldHex } = referenceKey(`week-46/${index - 1}`);
  return ['1', String(index), `n${index}`, '5 c ', '', '', '', '', '', '', '', shard, fieldHex, 'digest'];
}
