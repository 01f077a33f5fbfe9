import { describe, expect, test } from 'vitest';
import { heldOf } from '../../../src/ledger/accounts.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { attemptOf, merge, PAID } from '../../support/ledger/journaled-attempt.js';
import {
  type Line,
  ledgersOnRedis,
  START,
  sealed,
  type TestBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { audit, concludeAs, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** Each rule and period has one account. No order becomes payable without being charged to it. */
const bench = ledgersOnRedis();
const ACCOUNT = 'thanks:2026-W09';

let runs = 0;
const runOf = (limit: number | null) => ({
  account: ACCOUNT,
  limit,
  number: ++runs,
  id: `run${runs}`,
  record: '{}',
  schedule: null,
});
const award = (member: number, tokens = 60): Line => ({
  member: String(member),
  tokens,
  reference: `rule:thanks:2026-W09:${member}`,
});
const undoOf = ({ no }: TestBatch): Line => ({
  member: '1',
  op: 'debit',
  tokens: 60,
  undoes: { shard: '', fieldHex: '', no, index: '1', account: ACCOUNT },
});
const retry = (batch: TestBatch, index: number) =>
  retryOrder(batch.ref, index, batch.row(index), {
    who: 'ada',
    why: null,
    at: START,
    nonce: `retry-${++runs}`,
  });

async function expectHeld(ledger: RealmLedger, tokens: bigint): Promise<void> {
  expect(await heldOf(ledger, ACCOUNT)).toBe(tokens);
  expect(await tieUp(ledger)).toEqual([]);
}

describe('the account of a rule and a period', () => {
  test('is charged by the seal, and a batch beyond the limit is not sealed', async () => {
    const ledger = await bench.ledger();
    await sealed(ledger, [award(1), award(2)], { run: runOf(150) });
    await expectHeld(ledger, 120n);
    const over = { account: ACCOUNT, limit: '150', held: '120', tokens: '60' };
    await expect(sealed(ledger, [award(3)], { run: runOf(150) })).rejects.toThrow(JSON.stringify(over));
    // A file that names the rule’s reference is charged the same way.
    await expect(sealed(ledger, [{ tokens: 1 }, award(4)])).rejects.toThrow(JSON.stringify(over));
    await expectHeld(ledger, 120n);
    await sealed(ledger, [award(6)], { run: runOf(180) });
    await sealed(ledger, [award(7)], { run: runOf(null) });
    await expectHeld(ledger, 240n);
  });

  test('holds no more than an exact number, also without a limit', async () => {
    const ledger = await bench.ledger();
    const most = Number.MAX_SAFE_INTEGER;
    const three = [award(5, most), award(6, most), award(7, most)];
    await expect(sealed(ledger, three, { run: runOf(null) })).rejects.toThrow(/"limit":"9007199254740991"/);
    await expectHeld(ledger, 0n);
    const batch = await sealed(ledger, [award(1, most - 1), award(2, 1)], { run: runOf(null) });
    await expectHeld(ledger, BigInt(most));
    await expect(sealed(ledger, [award(8, 1)], { run: runOf(null) })).rejects.toThrow(/"tokens":"1"/);
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    await sendAs(batch, 2, 'R');
    await expectHeld(ledger, 0n);
    expect(await retry(batch, 1)).toBe('ok');
    await sealed(ledger, [award(4, 1)], { run: runOf(null) });
    expect(await retry(batch, 2)).toMatchObject({ why: expect.stringContaining('9007199254740991') });
  });

  test('accepts one of two runs that are sealed at once', async () => {
    const ledger = await bench.ledger();
    const both = await Promise.allSettled([
      sealed(ledger, [award(1)], { run: runOf(100) }),
      sealed(ledger, [award(2)], { run: runOf(100) }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expectHeld(ledger, 60n);
  });

  test('gets back the amount of a definite refusal, and a retry is charged again within the limit', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [award(1), award(2), award(3)], { run: runOf(180) });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await sendAs(batch, 2, 'R');
    await sendAs(batch, 3, 'X');
    await expectHeld(ledger, 60n);
    const other = await sealed(ledger, [award(4)], { run: runOf(180) });
    expect(await retry(batch, 2)).toBe('ok');
    await expectHeld(ledger, 180n);
    expect(await retry(batch, 3)).toEqual({
      why: expect.stringMatching(/rule thanks.*180.*2026-W09.*180.*60/),
    });
    await feedAll(other);
    await sendAs(other, 1, 'R');
    expect(await retry(batch, 3)).toBe('ok');
    await expectHeld(ledger, 180n);
  });

  test('stays charged for a doubt until it is resolved; unpaid frees the amount', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [award(1), award(2)], { run: runOf(120) });
    await feedAll(batch);
    await sendAs(batch, 1, 'D');
    await sendAs(batch, 2, 'u');
    await expectHeld(ledger, 120n);
    await concludeAs(batch, 1, 'D', 'X');
    await concludeAs(batch, 2, 'u', 'P');
    await expectHeld(ledger, 60n);
  });

  test('gets back what a cancelled batch never sent, and each other order’s amount as it fails', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [award(1), award(2), award(3), { tokens: 9 }], { run: runOf(180) });
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await sendAs(batch, 2, 'w');
    await cancelBatch(batch.ref, audit('cancelled'));
    await expectHeld(ledger, 60n);
    await concludeAs(batch, 1, 'u', 'w');
    await expectHeld(ledger, 0n);
  });

  test('gets back what a paid undo took', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [award(1)], { run: runOf(60) });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    const undo = await sealed(ledger, [undoOf(batch)]);
    await feedAll(undo);
    await expectHeld(ledger, 60n);
    await sendAs(undo, 1, 'P');
    await expectHeld(ledger, 0n);
    await sealed(ledger, [award(2)], { run: runOf(60) });
  });

  test('stays charged for a second payment when one of two is undone', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [award(1)], { run: runOf(60) });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await merge(batch, 'manual', attemptOf(batch, 1, PAID, { nonce: 'another' }));
    expect((await readBatch(batch.ref))?.notes).toEqual([expect.stringMatching(/paid twice/)]);
    const undo = await sealed(ledger, [undoOf(batch)]);
    await feedAll(undo);
    await sendAs(undo, 1, 'P');
    await expectHeld(ledger, 60n);
  });

  test('is charged by recovery for what was paid, even beyond the limit', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [award(1)], { run: runOf(60) });
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    await sealed(ledger, [award(2)], { run: runOf(60) });
    await merge(batch, 'manual', attemptOf(batch, 1, PAID));
    await expectHeld(ledger, 120n);
  });
});
