import { describe, expect, test } from 'vitest';
import { replay } from '../../../src/ledger/moves/replay.js';
import { readFence, storeSeen } from '../../../src/ledger/read/fence.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { readWaitAfterRollback } from '../../../src/ledger/sessions/after-rollback.js';
import { acceptMoved, acceptRemoved, arm, disarm, reportMerged } from '../../../src/ledger/sessions/fence.js';
import { listFolders, retireFolders } from '../../../src/ledger/sessions/folders.js';
import { arrow, diagramArrows, scriptsThat } from '../../support/docs/state-diagrams.js';
import { attemptOf, mergeContext, PAID } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, claimFor, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { resume } from '../../support/ledger/resume.js';
import { snapshot } from '../../support/ledger/unreliable-store.js';

/**
 * Compares the ledger’s state diagram in docs/explanation/reliability.md with the scripts. Each script is called on a
 * ledger in each state. Every change that results is an arrow there, and every arrow results from a change.
 */
const bench = ledgersOnRedis();
const HEADING = '### The ledger opens and closes';
const RESTART = 'the store restarts';
const MISSED = { forgotten: 9 };

/** The state that a newly started process finds in the store. */
async function stateOf(ledger: RealmLedger): Promise<string> {
  const { armed, untouched, missed, run } = await readFence(ledger);
  if (untouched) return 'new';
  if (armed) return (await readWaitAfterRollback(ledger)) === null ? 'open' : 'waiting for resume';
  if (Object.keys(missed).length > 0) return 'waiting for a decision';
  const { redis } = ledger.scripts;
  const merged = await redis.hvals(`${ledger.keyPrefix}:merged`);
  if (merged.includes(run)) return 'waiting for others';
  return (await redis.hexists(ledger.keyPrefix, 'found')) === 1 ? 'replaying' : 'closed';
}

type Change = { readonly script: string; readonly call: (batch: TestBatch) => Promise<unknown> };

const note = ({ mark }: RealmLedger) => ({ at: 1, seen: mark.seen + 5, found: 1, by: 'a' });
const entryOf = (session: string) =>
  JSON.stringify({ id: session, placeId: `folder-${session}`, journal: `/${session}/journal`, machine: 'm' });
const register = (ledger: RealmLedger, session: string, how = '') =>
  ledger.scripts.script('register', ledger.keyPrefix, [session, entryOf(session), '', how, '']);
async function merged(
  ledger: RealmLedger,
  session: string,
  { era = ledger.mark.era } = {},
): Promise<unknown> {
  const looked = [
    { id: `folder-${session}`, journal: `/${session}/journal`, machine: 'm', sent: true, fault: null },
  ];
  const report = { session, seen: ledger.mark.seen, era, looked, putBack: [0, 0, 0, 0] } as const;
  return reportMerged(ledger, (await readFence(ledger)).run, report);
}
const open = async (ledger: RealmLedger) => arm(ledger, (await readFence(ledger)).run, 0);
const leave = async (ledger: RealmLedger, session: string) =>
  ledger.scripts.script('leave', ledger.keyPrefix, [
    session,
    ledger.mark.seen,
    '',
    '1',
    storeSeen(await readFence(ledger)),
    '',
    '',
  ]);

const whereMissed = async (ledger: RealmLedger, decide: () => Promise<unknown>) =>
  Object.keys((await readFence(ledger)).missed).length === 0 ? null : decide();

const CHANGES: readonly Change[] = [
  { script: 'claim', call: (batch) => claimFor(batch, 2) },
  { script: 'begin-sending', call: (batch) => begin(batch, 2) },
  { script: 'register', call: ({ ledger }) => register(ledger, 'a') },
  { script: 'register', call: ({ ledger }) => register(ledger, 'c', 'has begun nothing') },
  { script: 'leave', call: ({ ledger }) => leave(ledger, 'a') },
  { script: 'leave', call: ({ ledger }) => leave(ledger, 'b') },
  { script: 'replay', call: (batch) => replay(mergeContext(batch, 'manual'), attemptOf(batch, 2, PAID)) },
  { script: 'disarm', call: ({ ledger }) => disarm(ledger, note(ledger), 'behind') },
  { script: 'disarm', call: ({ ledger }) => disarm(ledger, note(ledger), 'anyway') },
  { script: 'disarm', call: ({ ledger }) => disarm(ledger, note(ledger), 'anyway', { missed: MISSED }) },
  { script: 'merged', call: ({ ledger }) => merged(ledger, 'a') },
  { script: 'merged', call: ({ ledger }) => merged(ledger, 'b') },
  { script: 'merged', call: ({ ledger }) => merged(ledger, 'b', { era: 'forgotten' }) },
  { script: 'arm', call: ({ ledger }) => open(ledger) },
  {
    script: 'arm',
    call: ({ ledger }) => open({ ...ledger, asked: { ...ledger.asked, afterRollback: 'continue' } }),
  },
  // A person is asked only if a journal is missing.
  {
    script: 'accept-removed',
    call: ({ ledger }) =>
      whereMissed(ledger, async () => acceptRemoved(ledger, MISSED, storeSeen(await readFence(ledger)))),
  },
  { script: 'accept-removed', call: ({ ledger }) => whereMissed(ledger, () => acceptMoved(ledger)) },
  {
    script: 'retire-folders',
    call: async ({ ledger }) =>
      retireFolders(ledger, await listFolders(ledger), storeSeen(await readFence(ledger))),
  },
  { script: 'resume-after-rollback', call: ({ ledger }) => resume(ledger, audit('resumed')) },
];

type Past = (batch: TestBatch) => Promise<unknown>;
const failedOver: Past = ({ ledger }) =>
  ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'another-server');
const forgot: Past = ({ ledger }) => disarm(ledger, note(ledger), 'anyway');
const missed: Past = ({ ledger }) => disarm(ledger, note(ledger), 'anyway', { missed: MISSED });
const mergedBy =
  (...sessions: readonly string[]): Past =>
  async ({ ledger }) => {
    for (const session of sessions) await merged(ledger, session);
  };
const opened: Past = ({ ledger }) => open(ledger);
/** Order 1 is paid, and the sessions `a` and `b` are registered. */
const paid: Past = async (batch) => {
  await sendAs(batch, 1, 'P');
  for (const session of ['a', 'b']) await register(batch.ledger, session);
};

/** The histories of a ledger, each as the steps that lead to it. */
const PASTS: readonly (readonly Past[])[] = [
  [],
  [paid],
  [paid, failedOver],
  [paid, forgot],
  [paid, failedOver, mergedBy('a')],
  [paid, forgot, mergedBy('a')],
  [paid, failedOver, mergedBy('a', 'b')],
  [paid, forgot, mergedBy('a', 'b')],
  [paid, missed],
  [paid, missed, mergedBy('a', 'b')],
  [paid, forgot, mergedBy('a', 'b'), opened],
  [paid, forgot, mergedBy('a', 'b'), opened, failedOver],
  [paid, forgot, mergedBy('a', 'b'), opened, failedOver, mergedBy('a', 'b')],
];

async function ledgerAfter(past: readonly Past[]): Promise<TestBatch> {
  const batch = await sealed(await bench.ledger({ afterRollback: 'wait' }), [{}, {}, {}]);
  await feedAll(batch);
  for (const step of past) await step(batch);
  return batch;
}

/** Every change of state that a script makes to a ledger with this history. */
async function changesAfter(past: readonly Past[]): Promise<string[]> {
  const batch = await ledgerAfter(past);
  const { ledger } = batch;
  const [putBack, mark, from] = [await snapshot(ledger), { ...ledger.mark }, await stateOf(ledger)];
  const found: string[] = [];
  for (const { script, call } of CHANGES) {
    await call(batch);
    const to = await stateOf(ledger);
    if (from !== to) found.push(arrow(from, to, script));
    await putBack();
    Object.assign(ledger.mark, mark);
  }
  return found;
}

/** The same for a real restart, which gives the server another run_id. */
async function changesByRestart(): Promise<string[]> {
  const ledgers = await Promise.all(PASTS.map(async (past) => (await ledgerAfter(past)).ledger));
  const before = await Promise.all(ledgers.map(stateOf));
  await bench.redis().client().save();
  await bench.redis().kill();
  await bench.redis().restart();
  const after = await Promise.all(ledgers.map(stateOf));
  return before.flatMap((from, i) => {
    const to = after[i] ?? '';
    return from === to ? [] : [arrow(from, to, RESTART)];
  });
}

describe('the states of the ledger, as docs/explanation/reliability.md draws them', () => {
  test('the scripts and a restart make exactly the changes that are drawn there', async () => {
    const changes = (await Promise.all(PASTS.map(changesAfter))).flat();
    const found = [...new Set([...changes, ...(await changesByRestart())])].sort();
    expect(found).toEqual(diagramArrows(HEADING));
  });

  test('every script that writes a field of the state was called', () => {
    const writers = scriptsThat(
      /(HSET|HSETNX|HDEL|'DEL')[^\n]*('(armed|missed|waitsSince|found|forgot)'|':merged')/,
    );
    const called = new Set(CHANGES.map(({ script }) => script));
    expect(writers.length).toBeGreaterThan(4);
    expect(writers.filter((script) => !called.has(script))).toEqual([]);
  });
});
