import { expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import type { OrderRow } from '../../src/csv/row.js';
import { batchKeys } from '../../src/ledger/keys.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { planRows } from '../../src/planning/plan.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { AWARD_SHEET } from '../../src/rules/awards.js';
import { importing } from '../support/ledger/importing.js';
import { ledgersOnRedis, START } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { tieUp } from '../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const ROWS = 300;

test('a block that the store forgets before the seal refuses the import; the same file again is imported whole', async () => {
  const ledger = await bench.ledger();
  const profile = testProfile();
  const rows = Array.from({ length: ROWS }, (_, i): OrderRow => {
    const order = {
      op: 'credit',
      member: memberId(String(i + 1)),
      recipient: null,
      tokens: tokens(5),
    } as const;
    return { kind: 'order', line: i + 2, order, reference: null, reason: null, replaces: null, cells: [] };
  });
  const options = {
    ledger,
    profile,
    again: null,
    skipInvalid: false,
    now: START,
  };
  const plan = await planRows('pay.csv', AWARD_SHEET, [rows], options);
  const start = (onProgress: (rows: number) => void) =>
    importPlan(plan, importing(ledger, { profile, now: START, onProgress }));
  const forget = (done: number) => {
    if (done === ROWS) void ledger.scripts.redis.del(batchKeys(ledger.keyPrefix, '1').plan(0));
  };
  await expect(start(forget)).rejects.toMatchObject({
    code: 'ALM_LEDGER_PLAN_MISSING',
    message: expect.stringContaining('Nothing was sealed'),
  });
  const { ref, existing } = await start(() => {});
  expect(existing).toBe(false);
  expect(await readBatch(ref)).toMatchObject({ state: 'planned', counts: { planned: ROWS } });
  expect(await tieUp(ledger)).toEqual([]);
});
