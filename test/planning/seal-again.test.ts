import { expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import type { OrderRow } from '../../src/csv/row.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { judgedAt } from '../../src/ledger/read/earlier.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { acceptMissing, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { type Plan, planRows } from '../../src/planning/plan.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { AWARD_SHEET } from '../../src/rules/awards.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, merge, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { tieUp } from '../support/ledger/tie-up.js';

/** The ledger changes between the preview and the seal. The seal must match the confirmed preview, or it is refused. */
const bench = ledgersOnRedis();
const profile = testProfile();

function row(line: number, member: number, reference: string | null = null): OrderRow {
  const order = {
    op: 'credit',
    member: memberId(String(member)),
    recipient: null,
    tokens: tokens(5),
  } as const;
  return { kind: 'order', line, order, reference, reason: null, replaces: null, cells: [] };
}

function file(from: number, to: number, reference: (n: number) => string | null = () => null): OrderRow[] {
  return Array.from({ length: to - from }, (_, i) => row(i + 2, from + i, reference(from + i)));
}

function plan(ledger: RealmLedger, rows: readonly OrderRow[], newRowsOnly = false): Promise<Plan> {
  const plans = new PlanReader(ledger);
  const options = { ledger, plans, profile, again: null, newRowsOnly, skipInvalid: false, now: Date.now() };
  return planRows('pay.csv', AWARD_SHEET, [rows], options);
}

function start(ledger: RealmLedger, planned: Plan) {
  return importPlan(planned, importing(ledger));
}

async function cancel(ref: Awaited<ReturnType<typeof start>>['ref']) {
  await cancelBatch(ref, { at: 1, who: 'ada', what: 'cancelled', why: null });
}

test('of two previewed files that share rows only the first to be started is sealed', async () => {
  const ledger = await bench.ledger();
  const [a, b] = [await plan(ledger, file(0, 100)), await plan(ledger, file(75, 200))];
  expect([a.findings.faultCount, b.findings.faultCount]).toEqual([0, 0]);
  await start(ledger, a);
  await expect(start(ledger, b)).rejects.toMatchObject({
    code: 'ALM_PLAN_CHANGED',
    message: expect.stringMatching(/25 rows .*: lines 2-26/),
  });
  expect(await tieUp(ledger)).toEqual([]);
});

test('the same file started by two is one batch, also where one seals it while the other looks', async () => {
  const ledger = await bench.ledger();
  const [a, b] = [await plan(ledger, file(0, 30)), await plan(ledger, file(0, 30))];
  const script = ledger.scripts.script.bind(ledger.scripts);
  let first: Promise<unknown> | undefined;
  // The second has stored its blocks; the first takes over and seals before the second looks again.
  ledger.scripts.script = async (name, ...rest) => {
    if (name === 'put-block' && first === undefined) {
      const stored = await script(name, ...rest);
      first = start(ledger, a);
      await first;
      return stored;
    }
    return script(name, ...rest);
  };
  const { ref, existing } = await start(ledger, b);
  expect([existing, ref.id]).toEqual([true, a.batch]);
  expect((await plan(ledger, file(0, 30))).findings.faultCount).toBe(0);
});

test('of files that share rows and are started at the same moment exactly one is sealed', async () => {
  const ledger = await bench.ledger();
  const plans = await Promise.all([0, 1, 2, 3].map((n) => plan(ledger, file(n * 10, n * 10 + 60))));
  const ends = await Promise.allSettled(plans.map((one) => start(ledger, one)));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const end of ends)
    if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'ALM_PLAN_CHANGED' });
  expect(await tieUp(ledger)).toEqual([]);
});

test('references that were spent since the preview refuse the start and leave nothing behind', async () => {
  const ledger = await bench.ledger();
  const reference = (n: number) => `r-${n}`;
  const [a, b] = [await plan(ledger, file(0, 300, reference)), await plan(ledger, file(275, 600, reference))];
  const { ref } = await start(ledger, a);
  await expect(start(ledger, b)).rejects.toMatchObject({
    code: 'ALM_PLAN_CHANGED',
    message: expect.stringMatching(
      `25 rows .*: lines 2-26\\. That of line 2 is spent by order ${ref.id}-276\\. Both: give 5 to 275\\. Nothing`,
    ),
  });
  await cancel(ref);
  expect((await readBatch((await start(ledger, b)).ref))?.counts).toEqual({ planned: 325 });
  expect(await tieUp(ledger)).toEqual([]);
});

test('rows shown as duplicates of a batch that was cancelled since are not sealed as duplicates', async () => {
  const ledger = await bench.ledger();
  const reference = (n: number) => `r-${n}`;
  const { ref } = await start(ledger, await plan(ledger, file(0, 20, reference)));
  const shown = await plan(ledger, file(0, 30, reference));
  expect(shown.spent.count).toBe(20);
  await cancel(ref);
  await expect(start(ledger, shown)).rejects.toMatchObject({
    code: 'ALM_PLAN_CHANGED',
    message: expect.stringMatching(/20 rows .*: lines 2-21/),
  });
  const anew = await start(ledger, await plan(ledger, file(0, 30, reference)));
  expect((await readBatch(anew.ref))?.counts).toEqual({ planned: 30 });
});

test('with new rows only, what was left out and is free again is not sealed as left out', async () => {
  const ledger = await bench.ledger();
  const { ref } = await start(ledger, await plan(ledger, file(0, 20)));
  const shown = await plan(ledger, file(0, 30), true);
  expect(shown.spent.count).toBe(20);
  await cancel(ref);
  await expect(start(ledger, shown)).rejects.toMatchObject({ code: 'ALM_PLAN_CHANGED' });
  const anew = await start(ledger, await plan(ledger, file(0, 30), true));
  expect((await readBatch(anew.ref))?.counts).toEqual({ planned: 30 });
});

test('equal rows are counted: of three equal rows, two of them paid, one is new', async () => {
  const ledger = await bench.ledger();
  await start(ledger, await plan(ledger, [row(2, 1), row(3, 1), row(4, 2)]));
  const planned = await plan(ledger, [row(2, 1), row(3, 3), row(4, 1), row(5, 1)], true);
  const { ref } = await start(ledger, planned);
  expect((await readBatch(ref))?.counts).toEqual({ planned: 2, duplicate: 2 });
  const rows = await new PlanReader(ledger).block(ref.no, 0);
  expect(rows.map(({ duplicateOf }) => duplicateOf !== null)).toEqual([true, false, true, false]);
});

test.each([
  ['without references', () => null],
  ['with references', (n: number) => `r-${n}`],
])(
  'a plan of rows %s that was made before a loss was accepted is not sealed after it',
  async (_, reference) => {
    const batch = await sealed(await bench.ledger(), [{}]);
    const { ledger } = batch;
    const planned = await plan(ledger, file(100, 120, reference));
    expect(planned.findings.faultCount).toBe(0);
    const before = await judgedAt(ledger);
    await acceptMissing(mergeContext(batch, 'manual'), REMOVED, { who: 'ada', at: Date.now() });
    // What was judged and is about to be sealed is judged again.
    expect(await judgedAt(ledger)).not.toEqual(before);
    await expect(start(ledger, planned)).rejects.toMatchObject({ code: 'ALM_PLAN_MAYBE_FORGOTTEN' });
    expect(await tieUp(ledger)).toEqual([]);
  },
);

test('a store that forgot the cancelled batch and the next one of its file does not pay the file from the start', async () => {
  const ledger = await bench.ledger();
  const first = await start(ledger, await plan(ledger, file(0, 20)));
  await cancel(first.ref);
  const next = await start(ledger, await plan(ledger, file(0, 20), true));
  const forgetful = await bench.ledger();
  const known = testBatch(
    ledger,
    next.ref.no,
    next.ref.id,
    await new PlanReader(ledger).block(next.ref.no, 0),
  );
  await merge({ ...known, ledger: forgetful }, 'manual', attemptOf(known, 1, PAID));
  const again = await plan(forgetful, file(0, 20));
  expect(again.findings.faults()).toMatchObject([{ code: 'ALM_PLAN_LOOKS_PAID' }]);
});

test('a plan that was compared with nothing, because its batch was sealed, is refused once the store has forgotten it', async () => {
  const ledger = await bench.ledger();
  await start(ledger, await plan(ledger, file(0, 10)));
  const again = await plan(ledger, file(0, 10));
  const keys = await ledger.scripts.redis.keys(`${ledger.keyPrefix}*`);
  await ledger.scripts.redis.del(...keys);
  await start(ledger, await plan(ledger, file(5, 15)));
  await expect(start(ledger, again)).rejects.toMatchObject({ code: 'ALM_LEDGER_PLAN_MISSING' });
  expect(await tieUp(ledger)).toEqual([]);
});
