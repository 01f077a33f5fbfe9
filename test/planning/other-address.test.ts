import { describe, expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import type { OrderRow } from '../../src/csv/row.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { refuseFaults } from '../../src/operations/pay/plan-file.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import { type Plan, planRows } from '../../src/planning/plan.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { AWARD_SHEET } from '../../src/rules/awards.js';
import { putPlan, settleRows } from '../support/ledger/csv-plans.js';
import { importing } from '../support/ledger/importing.js';
import { ledgersOnRedis, START } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { cases, SEED } from '../support/suites.js';

const bench = ledgersOnRedis();

const elsewhere = (ledger: RealmLedger, change: Partial<RealmLedger['realm']>) =>
  openLedger(ledger.scripts, { ...ledger.realm, ...change });

function row(member: number): OrderRow {
  const order = { op: 'credit', member: memberId(`${member}`), recipient: null, tokens: tokens(5) } as const;
  return { kind: 'order', line: 2, order, reference: `r${member}`, reason: null, replaces: null, cells: [] };
}

function planned(
  ledger: RealmLedger,
  member: number,
  newAddress = false,
  newRowsOnly = false,
): Promise<Plan> {
  const { baseUrl, realmId, rehearsal } = ledger.realm;
  const profile = { ...testProfile(), baseUrl, realmId, rehearsal };
  return planRows('pay.csv', AWARD_SHEET, [[row(member)]], {
    ...{
      ledger,
      profile,
      again: null,
      newAddress,
      newRowsOnly,
      skipInvalid: false,
    },
    now: START,
  });
}

function imported(ledger: RealmLedger, plan: Plan) {
  return importPlan(plan, importing(ledger, { now: START }));
}

const faults = (plan: Plan) => plan.findings.faults().map(({ code }) => code);

describe('a realm id that was paid under another address', () => {
  test('stops new rows only, also where the new address is meant: which rows are new nobody here knows', async () => {
    const before = await bench.ledger();
    await imported(before, await planned(before, 1));
    const now = elsewhere(before, { baseUrl: 'http://localhost:1' });
    expect(faults(await planned(now, 1, true))).toEqual([]);
    expect((await planned(now, 1, true, true)).findings.faults()).toMatchObject([
      { code: 'ALM_PLAN_OTHER_ADDRESS', message: expect.stringContaining('take the rows of paid.csv') },
    ]);
  });

  test('stops the plan and names the address, what was paid there, and when', async () => {
    const before = await bench.ledger();
    await imported(before, await planned(before, 1));
    const now = elsewhere(before, { baseUrl: 'http://localhost:1' });
    const plan = await planned(now, 1);
    expect(plan.findings.faults()).toEqual([
      {
        line: 0,
        column: null,
        code: 'ALM_PLAN_OTHER_ADDRESS',
        message: expect.stringMatching(
          /http:\/\/127\.0\.0\.1:1 \(0 orders paid; 1 that may still be; the last batch begun on 2026-03-01 09:00 UTC\).*http:\/\/localhost:1 know nothing/,
        ),
      },
    ]);
    expect(() => refuseFaults(plan, '/nowhere')).toThrow(
      expect.objectContaining({ code: 'ALM_PLAN_OTHER_ADDRESS', exit: 3 }),
    );
    await expect(imported(now, { ...plan, movedFrom: [] })).rejects.toMatchObject({
      code: 'ALM_PLAN_OTHER_ADDRESS',
    });
  });

  test('goes on where the new one is meant, says so in the audit, and asks no more; the way back is asked for', async () => {
    const before = await bench.ledger();
    await imported(before, await planned(before, 1));
    const now = elsewhere(before, { baseUrl: 'https://new.example' });
    const plan = await planned(now, 1, true);
    expect(faults(plan)).toEqual([]);
    expect(plan.findings.warnings()).toMatchObject([{ code: 'ALM_PLAN_OTHER_ADDRESS' }]);
    const { ref } = await imported(now, plan);
    const audit = await now.scripts.redis.lrange(`${now.keyPrefix}:b:${ref.no}:log`, 0, -1);
    expect(audit.join()).toContain('new address: the realm was paid before at http://127.0.0.1:1');

    const next = await planned(now, 2);
    expect([next.findings.faultCount, next.findings.warningCount]).toEqual([0, 0]);
    await imported(now, next);
    expect(faults(await planned(before, 3))).toEqual(['ALM_PLAN_OTHER_ADDRESS']);
    expect(faults(await planned(before, 1)), 'what the books have is gone on with').toEqual([]);
    const third = elsewhere(before, { baseUrl: 'https://third.example' });
    const [finding] = (await planned(third, 1)).findings.faults();
    expect(finding?.message).toMatch(/http:\/\/127\.0\.0\.1:1 \(.*https:\/\/new\.example \(/);
  });

  test('stops a plan that was made before the other address was paid', async () => {
    const now = await bench.ledger();
    const plan = await planned(now, 1, true);
    const other = elsewhere(now, { baseUrl: 'http://localhost:1' });
    await imported(other, await planned(other, 1));
    await expect(imported(now, plan)).rejects.toMatchObject({
      code: 'ALM_PLAN_OTHER_ADDRESS',
      message: expect.stringContaining('Nothing was enqueued'),
    });
  });

  test('is none where nothing can have been paid there, in another realm, or in a rehearsal', async () => {
    const before = await bench.ledger();
    const { ref } = await imported(before, await planned(before, 1));
    const at = { baseUrl: 'http://localhost:1' };
    expect(faults(await planned(elsewhere(before, { ...at, realmId: 'another' }), 1))).toEqual([]);
    expect(faults(await planned(elsewhere(before, { ...at, rehearsal: true }), 1))).toEqual([]);
    await cancelBatch(ref, { at: START, who: 'ada', what: 'cancelled', why: null });
    expect((await readBatch(ref))?.counts).toEqual({ cancelled: 1 });
    expect(faults(await planned(elsewhere(before, at), 1))).toEqual([]);
  });
});

test('of imports under many addresses that really run at once one is sealed, and none waits for ever', async () => {
  for (let round = 0; round < 5; round++) {
    const here = await bench.ledger();
    const all = [1, 2, 3, 4].map((port) => elsewhere(here, { baseUrl: `http://localhost:${port}` }));
    const plans = await Promise.all(all.map((ledger) => planned(ledger, 1)));
    const ends = await Promise.allSettled(all.map((ledger, at) => imported(ledger, plans[at] as Plan)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  }
});

/** Stands still before the call to the store with this number, until it is told to go on. */
function halted({ scripts }: RealmLedger, before: number) {
  let [calls, goOn, arrive] = [0, () => {}, () => {}];
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const ask = scripts.ask.bind(scripts);
  scripts.ask = async (what, question) => {
    if (calls++ === before) {
      arrive();
      await gate;
    }
    return ask(what, question);
  };
  return { goOn, arrivesOr: (end: Promise<unknown>) => Promise.race([arrived, end]), calls: () => calls };
}

type Act = (ledger: RealmLedger) => Promise<() => Promise<unknown>>;

const importing1: Act = async (ledger) => {
  const plan = await planned(ledger, 1);
  return () => imported(ledger, plan);
};

/** The first goes so far, the second so far, the first to its end, the second to its end. */
async function interleaved(first: number, second: number, act: Act = importing1) {
  // A plan looks at every realm of the store: those of the rounds before would make each round slower.
  await bench.redis().client().flushall();
  const here = await bench.ledger();
  const there = openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}), {
    ...here.realm,
    baseUrl: 'http://localhost:1',
  });
  const both = [here, there];
  const acts = [await act(here), await importing1(there)];
  const halts = both.map((ledger, at) => halted(ledger, at === 0 ? first : second));
  const ends: Promise<PromiseSettledResult<unknown>[]>[] = [];
  for (const at of both.keys()) {
    ends.push(Promise.allSettled([acts[at]?.()]));
    await halts[at]?.arrivesOr(ends[at] as Promise<unknown>);
  }
  for (const [at, halt] of halts.entries()) {
    halt.goOn();
    await ends[at];
  }
  return { both, calls: halts.map(({ calls }) => calls()), ends: (await Promise.all(ends)).flat() };
}

/** The quick suite plays an eighth of all places where two can meet, the long suite a third; its random seed says which. */
const EVERY = cases(8, 3);

test('of two imports at once under two addresses one is refused, wherever they meet', async () => {
  const { calls } = await interleaved(0, 0);
  for (let first = 0; first <= (calls[0] ?? 0); first++)
    for (let second = 0; second <= (calls[0] ?? 0); second++) {
      if ((first + second + SEED) % EVERY !== 0) continue;
      const { both, ends } = await interleaved(first, second);
      const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      expect(refused, `before calls ${first} and ${second}`).toEqual([
        expect.objectContaining({
          code: 'ALM_PLAN_OTHER_ADDRESS',
          message: expect.stringMatching(
            /paid before under another address: .* 1 that may still be.*Nothing was enq/,
          ),
        }),
      ]);
      for (const ledger of both) expect(await tieUp(ledger)).toEqual([]);
    }
}, 120_000);

/** Its order was refused, which the other address is not asked about, and is retried. */
const retrying1: Act = async (ledger) => {
  const batch = await settleRows(await putPlan(ledger, await planned(ledger, 1)), 'R');
  const letter = { index: 1, row: batch.row(1) };
  const by = { who: 'ada', why: null, at: START, nonce: 'n' };
  return async () => {
    const answer = await new PaidSince(batch.ref, [letter]).retry(letter, by);
    if (answer !== 'ok') throw new Error(answer.why);
  };
};

test('of a retry and an import at once under two addresses one is refused, wherever they meet', async () => {
  const { calls } = await interleaved(0, 0, retrying1);
  const [mostHere = 0, mostThere = 0] = calls;
  for (let first = 0; first <= mostHere; first++)
    for (let second = 0; second <= mostThere; second++) {
      if ((first + second) % EVERY !== 0) continue;
      const { both, ends } = await interleaved(first, second, retrying1);
      const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      expect(refused, `before calls ${first} and ${second}`).toEqual([
        expect.objectContaining({ message: expect.stringContaining('under another address') }),
      ]);
      for (const ledger of both) expect(await tieUp(ledger)).toEqual([]);
    }
}, 120_000);
