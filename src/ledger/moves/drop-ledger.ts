import { BATCH_LISTS, BLOCK_ORDERS, batchKeys, PLAN_BLOCK_ROWS, REALMS_KEY } from '../keys.js';
import { newestFirst } from '../read/batch-lists.js';
import { askRealm, batchFacts, type RealmLedger } from '../realm-ledger.js';

/**
 * Everything of a realm leaves the store, its name last, so that what was interrupted is found again. Every key follows from
 * others, so that nothing has to be looked for among the keys of the whole store; queues are BullMQ's (queue/queues.ts).
 */
export async function dropLedger(ledger: RealmLedger): Promise<void> {
  for await (const { no } of newestFirst(ledger)) await drop(ledger, await keysOfBatch(ledger, no));
  await drop(ledger, await keysNamedInside(ledger));
  await drop(ledger, references(ledger));
  await drop(ledger, [...FIXED.map((name) => `${ledger.keyPrefix}:${name}`), ledger.keyPrefix]);
  await ledger.scripts.ask('forget realm', (redis) => redis.hdel(REALMS_KEY, ledger.id));
}

const AT_ONCE = 1_000;

/** By blocks, so that no single command names them all; UNLINK frees the memory in the background. */
async function drop({ scripts }: RealmLedger, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += AT_ONCE)
    await scripts.ask('forget realm', (redis) => redis.unlink(...keys.slice(at, at + AT_ONCE)));
}

async function keysOfBatch(ledger: RealmLedger, no: string): Promise<string[]> {
  const { plan, records, details, attempts, ...own } = batchKeys(ledger.keyPrefix, no);
  const [rows, blocks] = await batchFacts({ ledger, no }, 'rows', 'blocks');
  const last = Math.max(Number(rows ?? 0), Number(blocks ?? 0) * PLAN_BLOCK_ROWS);
  const indexes = Array.from({ length: last }, (_, at) => at + 1);
  const count = Math.ceil(last / PLAN_BLOCK_ROWS);
  const planBlocks = Array.from({ length: count }, (_, block) => block);
  const halves = Array.from({ length: count * (PLAN_BLOCK_ROWS / BLOCK_ORDERS) }, (_, block) => block);
  return [
    ...planBlocks.map(plan),
    ...halves.map(records),
    ...indexes.flatMap((index) => [details(index), attempts(index)]),
    ...Object.values(own),
  ];
}

/** Keys whose names stand in other keys: of sessions, members, runs of rules, running totals, and batches without a number. */
async function keysNamedInside(ledger: RealmLedger): Promise<string[]> {
  return askRealm(ledger, 'forget realm', async (redis, T) => {
    const [sessions, members, misfits, runs, carried, sums, past, missed, people] = await Promise.all([
      redis.hkeys(`${T}:begun`),
      redis.hkeys(`${T}:holders`),
      redis.smembers(`${T}:misfits`),
      redis.hgetall(`${T}:rules:runs`),
      redis.hget(T, 'carried'),
      redis.smembers(`${T}:sums`),
      redis.smembers(`${T}:rules:past`),
      redis.hkeys(`${T}:rules:missed`),
      redis.smembers(`${T}:alone`),
    ]);
    const others = [
      ...misfits.map((order) => `m${order.replace(/-\d+$/, '')}`),
      ...Array.from({ length: Number(carried ?? 0) }, (_, at) => `c${at + 1}`),
    ];
    return [
      ...sessions.map((session) => `${T}:refused:${session}`),
      ...members.map((member) => `${T}:wait:${member}`),
      ...past.map((rule) => `${T}:rules:past:${rule}`),
      ...people.flatMap((who) => [`${T}:alone:${who}`, `${T}:alone:${who}:left`]),
      ...missed.map((rule) => `${T}:rules:missed:${rule}`),
      ...sums.flatMap((period) =>
        ['sum', 'by:rule', 'by:reason', 'work'].map((name) => `${T}:${name}:${period}`),
      ),
      ...others.flatMap((no) => [batchKeys(T, no).meta, batchKeys(T, no).audit]),
      ...Object.entries(runs).flatMap(([id, run]) => [
        `${T}:rules:run:${id}:facts`,
        ...Array.from({ length: blocksOf(run) }, (_, block) => `${T}:rules:run:${id}:${block}`),
      ]),
    ];
  });
}

function blocksOf(run: string): number {
  const { blocks }: { blocks?: unknown } = JSON.parse(run);
  return typeof blocks === 'number' ? blocks : 0;
}

/** The shards of the references: a few thousand are in use, and all are named. */
function references({ keyPrefix }: RealmLedger): string[] {
  return Array.from(
    { length: 2 ** 16 },
    (_, shard) => `${keyPrefix}:ref:${shard.toString(16).padStart(4, '0')}`,
  );
}

/** What has one name in every realm; claims, turns and what was learnt of a rate end by themselves. */
const FIXED = [
  ...BATCH_LISTS,
  'batches',
  'reports',
  'content',
  'unresumed',
  'alone',
  'besides',
  'held',
  'limits',
  'days',
  'keptHeld',
  'debts',
  'undone',
  'undoes',
  'misfits',
  'replayed',
  'alike',
  'heldFor',
  'cleared',
  'holders',
  'expected',
  'void',
  'statuses',
  'addresses',
  'waits',
  'recovery',
  'sums',
  'sessions',
  'seen',
  'begun',
  'joined',
  'merged',
  'lost',
  'eras',
  'lostEras',
  'looks',
  'looked',
  'dataFolders',
  'folders',
  'pace',
  'pace:o',
  'pace:w',
  'pace:s',
  ...[
    'runs',
    'schedules',
    'last',
    'past',
    'missed',
    'waiting',
    'texts',
    'members',
    'rounds',
    'numbers',
    'approvals',
  ].map((name) => `rules:${name}`),
];
