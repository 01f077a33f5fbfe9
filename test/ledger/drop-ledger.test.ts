import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BATCH_LISTS } from '../../src/ledger/keys.js';
import { LEDGER_SCRIPTS } from '../../src/ledger/lua-scripts.js';
import { dropLedger } from '../../src/ledger/moves/drop-ledger.js';
import { noteBalances } from '../../src/ledger/moves/readback-marks.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { allLedgers } from '../../src/ledger/realm-ledger.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { audit, claimFor, feedAll, held, sendAs } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

test('dropping a realm removes all of its keys, whatever happened to its orders, and no key of another realm', async () => {
  const [ledger, other] = [await bench.ledger(), await bench.ledger()];
  const kept = await sealed(other, [{}, {}]);
  const lines = Array.from({ length: 300 }, (_, i) => ({
    member: String(100 + (i % 3)),
    reference: `r-${i}`,
  }));
  const batch = await sealed(ledger, lines);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  await sendAs(batch, 3, 'D');
  await sendAs(batch, 4, 'u');
  await held(batch, 5);
  await claimFor(batch, 8);
  await noteBalances(ledger, [['100', '7']], null);
  await cancelBatch((await sealed(ledger, [{}])).ref, audit('cancelled'));
  const { redis } = ledger.scripts;
  const T = ledger.keyPrefix;
  await redis.multi().sadd(`${T}:rules:past`, 'tax').zadd(`${T}:rules:past:tax`, 1, '{}').exec();
  await redis.multi().hset(`${T}:rules:missed`, 'tax', 0).zadd(`${T}:rules:missed:tax`, 1, '{}').exec();
  const before = (await redis.keys(`${other.keyPrefix}*`)).sort();
  await dropLedger(ledger);
  expect(await redis.keys(`${ledger.keyPrefix}*`)).toEqual([]);
  expect((await redis.keys(`${other.keyPrefix}*`)).sort()).toEqual(before);
  expect((await allLedgers(ledger.scripts)).map(({ id }) => id)).not.toContain(ledger.id);
  expect(await redis.hget(`${other.keyPrefix}:b:${kept.no}`, 'state')).toBe('planned');
});

/** Keys with names derived from other keys, and keys that expire by themselves. */
const FOLLOWS = ['b', 'by', 'ref', 'wait', 'prepared', 'pace:l'];

test('every key that a script names is removed with its realm', () => {
  const source = readFileSync('src/ledger/moves/drop-ledger.ts', 'utf8');
  const dropped = new Set<string | undefined>(BATCH_LISTS);
  for (const [, name] of source.matchAll(/'([a-zA-Z:]+)'/g)) dropped.add(name);
  const files = readdirSync('src/ledger', { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.lua'),
  );
  expect(files.length).toBeGreaterThan(LEDGER_SCRIPTS.size);
  const text = files.map((path) => readFileSync(join('src/ledger', path), 'utf8')).join('\n');
  const named = [...text.matchAll(/\bT \.\. ':([a-zA-Z]+(?::[a-zA-Z]+)*):?'/g)].map(([, name = '']) => name);
  expect(new Set(named).size).toBeGreaterThan(40);
  const left = named.filter((name) => !dropped.has(name.replace(/^rules:/, '')) && !FOLLOWS.includes(name));
  expect([...new Set(left)]).toEqual([]);
});
