import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { accountName } from '../../src/core/reference.js';
import { planning } from '../../src/ledger/index.js';
import { decodePlanBlock } from '../../src/ledger/plan-block.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { planRows } from '../../src/planning/plan.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { AWARD_SHEET, awardRows, runSource } from '../../src/rules/awards.js';
import type { FactReader } from '../../src/rules/gather-facts.js';
import { packAudience } from '../../src/rules/packed-audience.js';
import { planRun } from '../../src/rules/plan-run.js';
import type { LoadedRule } from '../../src/rules/rule.js';
import { RuleThread } from '../../src/rules/rule-thread.js';
import { readEntries } from '../../src/rules/run-store.js';
import { importing } from '../support/ledger/importing.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { generated } from '../support/suites.js';
import { AT } from './candidates.js';
import { goodRule, ruleText } from './rule-file.js';

const bench = ledgersOnRedis();
const PER_PERIOD = 400;

const load = () =>
  goodRule(
    ruleText({
      award: 'award:\n  tokens: web3.score\n  rounding: floor',
      x: `maxMissing: 100%\nlimits:\n  perRun: 300\n  perPeriod: ${PER_PERIOD}\n  cut: [perRun, perPeriod]`,
    }),
  );

/** Facts that are handed in: what a realm would say at that moment. */
function realmOf(scores: readonly number[]): FactReader {
  return {
    member: async (id) => ({ id, balance: null, raw: {} }),
    web3: async (id) => ({ id, raw: { score: scores[Number(id) % scores.length] } }),
    wallets: async () => new Map(),
  };
}

let runs = 0;
/** One for all runs; starting it is most of what a small run takes. */
const thread = new RuleThread(new AbortController().signal);
afterAll(() => thread.close());

/** One whole run of the rule, up to a sealed batch; the orders that it adds to the books. */
async function run(
  loaded: LoadedRule,
  ledger: RealmLedger,
  members: readonly number[],
  scores: readonly number[],
): Promise<[string, number][]> {
  const { rule } = loaded;
  const rows = members.map((member, at) => ({
    member: String(member),
    line: at + 2,
    cells: [String(member), '1', 'true'],
  }));
  const audience = packAudience({
    ...loaded.audience,
    rows: rows.flatMap((row) => (isRow(row) ? [row] : [])),
  });
  const profile = testProfile();
  const common = {
    ledger,
    now: AT,
    at: AT,
    who: 'ada',
    scheduled: false,
    stop: new AbortController().signal,
  };
  const { meta } = await planRun({
    ...common,
    profile,
    rule,
    audience,
    newId: `run${++runs}`,
    reads: realmOf(scores),
    onProgress: () => {},
    thread,
  });
  if (meta.state !== 'planned' || meta.awards === 0) return [];
  const plan = await planRows(runSource(meta), AWARD_SHEET, awardRows(meta, readEntries(ledger, meta)), {
    ledger,
    profile,
    again: null,
    skipInvalid: false,
    now: AT,
  });
  await importPlan(plan, importing(ledger, { profile, now: AT }));
  return plan.blocks.flatMap((block) =>
    decodePlanBlock(block).flatMap(({ order, duplicateOf }): [string, number][] =>
      order === null || duplicateOf !== null ? [] : [[order.member, order.tokens]],
    ),
  );
}

test('running twice pays each member once and never goes over the period, whatever changed in between', async () => {
  const audience = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
  const scores = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 10 });
  const loaded = await load();
  await fc.assert(
    fc.asyncProperty(audience, scores, audience, scores, async (first, before, second, after) => {
      const ledger = await bench.ledger();
      const paid = [
        ...(await run(loaded, ledger, first, before)),
        ...(await run(loaded, ledger, second, after)),
        ...(await run(loaded, ledger, first, before)),
      ];
      const members = paid.map(([member]) => member);
      expect(members).toHaveLength(new Set(members).size);
      const sum = paid.reduce((total, [, tokens]) => total + tokens, 0);
      expect(sum).toBeLessThanOrEqual(PER_PERIOD);
      expect(await planning.accounts.heldOf(ledger, accountName('thanks', '2026-W47'))).toBe(BigInt(sum));
    }),
    generated(8, 80),
  );
}, 60_000);

function isRow(row: {
  member: string;
  line: number;
  cells: string[];
}): row is LoadedRule['audience']['rows'][number] & typeof row {
  return /^[0-9]+$/.test(row.member);
}
