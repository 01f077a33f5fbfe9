import { describe, expect, test } from 'vitest';
import { replay } from '../../../src/ledger/moves/replay.js';
import { discardOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch, closeBreaker } from '../../../src/ledger/moves/steer.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { batchFacts, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { STATE_CODES } from '../../../src/ledger/record.js';
import { arm } from '../../../src/ledger/sessions/fence.js';
import { arrow, diagramArrows, scriptsThat, tableArrows } from '../../support/docs/state-diagrams.js';
import { placeOf } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, mergeContext } from '../../support/ledger/journaled-attempt.js';
import {
  type Line,
  ledgersOnRedis,
  planRow,
  sealed,
  type TestBatch,
  testBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, feedAll, moment, sendAs } from '../../support/ledger/order-moves.js';
import { SCRIPT_CALLS, type ScriptCall } from '../../support/ledger/script-calls.js';

/**
 * Compares the order’s state diagram in docs/explanation/reliability.md, and the table of recovery’s moves, with the
 * scripts. Each script call is made on an order in each state. Every move that results is an arrow there, and every
 * arrow results from a move.
 */
const bench = ledgersOnRedis();
const HEADING = '### The states of an order';

type Make = (batch: TestBatch, index: number) => Promise<unknown>;
/** The histories of an order, each as the steps that lead to it; all orders of a batch take a step together. */
const PASTS: Readonly<Record<string, readonly Make[]>> = {
  planned: [],
  'planned again': [(batch, index) => sendAs(batch, index, 'w')],
  sending: [(batch, index) => begun(batch, index)],
  'sending again': [
    (batch, index) => sendAs(batch, index, 'u'),
    (batch, index) => begun(batch, index, { nonce: 'again', keyAgeMaxMs: 60_000 }),
  ],
  unknown: [(batch, index) => sendAs(batch, index, 'u')],
  doubt: [(batch, index) => sendAs(batch, index, 'D')],
  refused: [(batch, index) => sendAs(batch, index, 'R')],
  exhausted: [(batch, index) => sendAs(batch, index, 'X')],
  discarded: [
    (batch, index) => sendAs(batch, index, 'X'),
    ({ ref }, index) => discardOrder(ref, index, { who: 'ada', why: 'left', at: 1 }),
  ],
  paid: [(batch, index) => sendAs(batch, index, 'P')],
};

/** Makes a batch with one row for each call, all with the same history. */
type Maker = (ledger: RealmLedger, calls: readonly ScriptCall[]) => Promise<TestBatch>;

/** One more row stays planned, so that the batch does not end. */
const afterSteps =
  (steps: readonly Make[], line: Line = {}): Maker =>
  async (ledger, calls) => {
    const lines = calls.map(
      ({ isReferenced }, i): Line => (isReferenced ? { ...line, reference: `r-${i + 1}` } : line),
    );
    const batch = await sealed(ledger, [...lines, {}], { id: `b-${moment()}` });
    await feedAll(batch);
    for (const step of steps) {
      await Promise.all(calls.map((_, i) => step(batch, i + 1)));
      // That many unknown outcomes in a row have opened the breaker.
      await closeBreaker(ledger);
    }
    return batch;
  };

const cancelled =
  (make: Maker): Maker =>
  async (ledger, calls) => {
    const batch = await make(ledger, calls);
    await cancelBatch(batch.ref, audit('cancelled'));
    return batch;
  };

/** Rows that the plan left out: the calls treat them as orders. */
const leftOut =
  (line: Line): Maker =>
  async (ledger, calls) => {
    const { no, ref } = await afterSteps([], line)(ledger, calls);
    const rows = [...calls, {}].map((_, i) => planRow({}, i + 1));
    return testBatch(ledger, no, ref.id, rows);
  };

/** Orders of a batch that the store has forgotten; a journal has restored each with its request under way. */
const recovered: Maker = async (ledger, calls) => {
  const past = await afterSteps([])(await bench.ledger(), calls);
  const batch = { ...past, ledger };
  for (const [i] of calls.entries())
    await replay(mergeContext(batch, 'manual', [`nonce-${i + 1}`]), attemptOf(batch, i + 1, null));
  await arm(ledger, (await readFence(ledger)).run, 0);
  const { no, id } = await placeOf(batch);
  return testBatch(ledger, no, id, past.rows);
};

async function stateOf({ ref }: TestBatch, index: number): Promise<string> {
  const { code } = await readRecord(ref, index);
  const [state] = await batchFacts(ref, 'state');
  return state === 'cancelled' && (code === 'w' || code === 'p') ? 'cancelled' : STATE_CODES[code];
}

/** Every move that the calls make of orders with the same history. */
async function movesOf(make: Maker): Promise<string[]> {
  const ledger = await bench.ledger();
  const alone = SCRIPT_CALLS.filter(({ isWide }) => isWide).map((call) => [call]);
  const groups = [SCRIPT_CALLS.filter(({ isWide }) => !isWide), ...alone];
  // All are made before the first call, because a session that is given up cannot send again.
  const made: { batch: TestBatch; calls: readonly ScriptCall[] }[] = [];
  for (const calls of groups) made.push({ batch: await make(ledger, calls), calls });
  const found: string[] = [];
  for (const { batch, calls } of made)
    for (const [i, { script, call }] of calls.entries()) {
      const from = await stateOf(batch, i + 1);
      await call(batch, i + 1);
      const to = await stateOf(batch, i + 1);
      if (from !== to) found.push(arrow(from, to, script));
    }
  return found;
}

async function allMoves(): Promise<string[]> {
  const made = Object.values(PASTS).map((steps) => afterSteps(steps));
  const rows = [leftOut({ duplicateOf: 'elsewhere-1' }), leftOut({ invalid: true })];
  const makers = [...made, ...made.map(cancelled), ...rows, recovered];
  return [...new Set((await Promise.all(makers.map(movesOf))).flat())].sort();
}

/** The state that the seal gives each kind of row. */
async function sealedAs(): Promise<string[]> {
  const batch = await sealed(await bench.ledger(), [{}, { duplicateOf: 'elsewhere-1' }, { invalid: true }]);
  return Promise.all([1, 2, 3].map(async (index) => arrow('[*]', await stateOf(batch, index), 'seal-batch')));
}

describe('the states of an order, as docs/explanation/reliability.md draws them', () => {
  test('the scripts make exactly the moves that are drawn or listed there', async () => {
    const drawn = [...diagramArrows(HEADING), ...tableArrows(HEADING, 'state before')];
    expect([...(await sealedAs()), ...(await allMoves())].sort()).toEqual(drawn.sort());
  });

  test('every script that writes the record of an order, or counts its state, was called', () => {
    const movers = scriptsThat(/\b(move|writeRecord|writeMarks|orphanOrder)\(|'c:c'/);
    const called = new Set(SCRIPT_CALLS.map(({ script }) => script));
    expect(movers.length).toBeGreaterThan(8);
    expect(movers.filter((script) => !called.has(script))).toEqual([]);
  });
});
