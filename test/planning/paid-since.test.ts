import { describe, expect, test } from 'vitest';
import { batchKeys } from '../../src/ledger/keys.js';
import { archiveBatch } from '../../src/ledger/moves/archive-batch.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { acceptMissing, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import {
  bareCsv as bare,
  faultCodes as codes,
  standInCsv as failed,
  giveCsv as given,
  planCsv,
  putPlan,
} from '../support/ledger/csv-plans.js';
import { attemptOf, merge, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, concludeAs, moment, sendAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { tempFolder } from '../support/temp-folder.js';

/** What may have paid the row of a dead letter since, and who knows of it. */
const bench = ledgersOnRedis();

async function run(csv: string, ...states: readonly ('P' | 'R')[]): Promise<TestBatch> {
  return given(await bench.ledger(), csv, {}, ...states);
}

async function retryAll(batch: TestBatch, ...indexes: number[]) {
  const answers = await retryAt(batch, moment, ...indexes);
  expect(await tieUp(batch.ledger)).toEqual([]);
  return answers;
}

function retryAt({ ref, row }: TestBatch, now: () => number, ...indexes: number[]) {
  const letters = indexes.map((index) => ({ index, row: row(index) }));
  const since = new PaidSince(ref, letters);
  const by = () => ({ who: 'ada', why: null, at: now(), nonce: String(moment()) });
  return Promise.all(letters.map((letter) => since.retry(letter, by())));
}

async function retry(batch: TestBatch, index: number) {
  return (await retryAll(batch, index))[0];
}

const inFortyDays = () => Date.now() + 40 * 24 * 3600_000;

/** Between its comparison and the script that retries it. */
function beforeRetry({ ledger, no }: TestBatch, act: () => unknown): void {
  const script = ledger.scripts.script.bind(ledger.scripts);
  ledger.scripts.script = async (name, realm, args) => {
    if (name === 'retry' && args[0] === no) await act();
    return script(name, realm, args);
  };
}

describe('a dead letter without a reference', () => {
  test('is not retried where a later file has been given its row', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    await given(first.ledger, bare(2, 3), {}, 'P', 'P');
    expect(await retry(first, 2)).toMatchObject({
      why: expect.stringMatching(/the same row is order \w+-1 by now/),
    });
  });

  test('whose row another file pays for it is said to be replaced, not to have a twin', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    const stands = `member,tokens,almoner_order\n2,5,${first.ref.id}-2\n`;
    const second = await given(first.ledger, stands, {}, 'P');
    expect(await retry(first, 2)).toMatchObject({
      why: expect.stringContaining(`an order of batch ${second.ref.id} stands in for it`),
    });
  });

  test('is not retried where an equal order of an earlier batch was retried since', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    const second = await given(first.ledger, bare(2, 3), {}, 'R', 'P');
    expect(await retry(first, 2)).toBe('ok');
    expect(await retry(second, 1)).toMatchObject({ why: expect.stringContaining(`${first.ref.id}-2`) });
  });

  test('that is retried is seen by a file that was compared before', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    const { ledger } = first;
    const shown = await planCsv(ledger, bare(2, 3));
    // Also between the last comparison and the seal.
    const script = ledger.scripts.script.bind(ledger.scripts);
    let retried: unknown;
    ledger.scripts.script = async (name, ...rest) => {
      if (name === 'seal-batch') retried ??= await retry(first, 2);
      return script(name, ...rest);
    };
    await expect(putPlan(ledger, shown)).rejects.toMatchObject({ code: 'ALM_PLAN_CHANGED' });
    expect(retried).toBe('ok');
  });

  test('that was compared before another file was sealed is compared again', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    let meanwhile: unknown;
    beforeRetry(first, async () => {
      meanwhile ??= await given(first.ledger, bare(2, 3), {});
    });
    expect(await retry(first, 2)).toMatchObject({ why: expect.stringContaining('by now') });
    expect(meanwhile).toBeDefined();
  });

  test('that was compared before an equal order of another batch was retried is compared again', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    const second = await given(first.ledger, bare(2, 3), {}, 'R', 'P');
    let other: unknown;
    beforeRetry(first, async () => {
      other ??= await retry(second, 1);
    });
    expect(await retry(first, 2)).toMatchObject({ why: expect.stringContaining(`${second.ref.id}-1`) });
    expect(other).toBe('ok');
  });

  test('is compared once with all that are named: the batch’s own retries move nothing', async () => {
    const first = await run(bare(1, 1, 1, 2, 2), 'R', 'R', 'R', 'R', 'R');
    let asked = 0;
    beforeRetry(first, () => {
      asked += 1;
    });
    expect(await retryAll(first, 1, 2, 3, 4, 5)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    expect(asked).toBe(5);
  });

  test('and its equal of the same file get the same answers, named one by one or together', async () => {
    const batches = [];
    for (let i = 0; i < 2; i++) {
      const twins = await run(bare(1, 1, 2), 'R', 'R', 'P');
      const later = await given(twins.ledger, bare(1, 3), {}, 'P', 'P');
      batches.push({ twins, paid: { why: expect.stringContaining(`${later.ref.id}-1`) } });
    }
    const [alone, together] = batches;
    if (alone === undefined || together === undefined) throw new Error('no batches');
    expect(await retryAll(together.twins, 1, 2)).toMatchObject([together.paid, 'ok']);
    expect(await retry(alone.twins, 1)).toMatchObject(alone.paid);
    expect(await retry(alone.twins, 2)).toBe('ok');
    expect(await retry(alone.twins, 1)).toMatchObject(alone.paid);
  });
});

test('a batch is later than another where it was sealed later, whenever its import was opened', async () => {
  const ledger = await bench.ledger();
  const script = ledger.scripts.script.bind(ledger.scripts);
  ledger.scripts.script = (name, ...rest) =>
    name === 'seal-batch' ? Promise.reject(new Error('killed')) : script(name, ...rest);
  await expect(putPlan(ledger, await planCsv(ledger, bare(1, 2)))).rejects.toThrow('killed');
  ledger.scripts.script = script;
  const second = await given(ledger, bare(1, 3), {}, 'R', 'P');
  const first = await given(ledger, bare(1, 2), {}, 'P', 'P');
  expect([first.no, second.no]).toEqual(['1', '2']);
  expect(codes(await planCsv(ledger, failed(second, 1)))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  expect(await retry(second, 1)).toMatchObject({ why: expect.stringContaining(`${first.ref.id}-1`) });
});

test('what stands for an order is compared with everything since that order, however long ago', async () => {
  const first = await run(bare(1, 2), 'P', 'R');
  const { ledger } = first;
  const second = await given(ledger, bare(2, 3), {}, 'P', 'P');
  expect(codes(await planCsv(ledger, bare(2, 4), { now: inFortyDays() }))).toEqual([]);
  const rows = `member,tokens,almoner_order\n2,5,${first.ref.id}-2\n`;
  expect(codes(await planCsv(ledger, rows, { now: inFortyDays() }))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  const why = expect.stringContaining(`${second.ref.id}-1`);
  expect(await retryAt(first, inFortyDays, 2)).toMatchObject([{ why }]);
});

test('an order that was retried is known as such after its batch was archived', async () => {
  const first = await run(bare(1, 2), 'P', 'R');
  const { ledger } = first;
  const second = await given(ledger, bare(2, 3), {}, 'R', 'P');
  expect(await retry(first, 2)).toBe('ok');
  await sendAs(first, 2, 'P', { nonce: 'again' });
  const folder = await tempFolder();
  expect(await archiveBatch(first.ref, folder)).toBeDefined();
  expect(await ledger.scripts.redis.pttl(batchKeys(ledger.keyPrefix, first.no).again)).toBe(-1);
  // Where nobody can read it nobody can tell, with its sketch and long after.
  const why = expect.stringContaining(`${first.ref.id} is archived`);
  expect(await retryAt(second, moment, 1)).toMatchObject([{ why }]);
  await ledger.scripts.redis.unlink(batchKeys(ledger.keyPrefix, first.no).sketch);
  expect(await retryAt(second, inFortyDays, 1)).toMatchObject([{ why }]);
  const here = openLedger(
    new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder }),
    ledger.realm,
  );
  const paid = expect.stringContaining(`${first.ref.id}-2`);
  const there = { ...second, ref: { ...second.ref, ledger: here } };
  expect(await retryAt(there, inFortyDays, 1)).toMatchObject([{ why: paid }]);
});

describe('an order that is paid after all counts like one that was retried', () => {
  const LATER = { nonce: 'forgotten', keyNumber: 2, attempts: 2 };

  test.each([
    ['paid', PAID.replace('P|1|1', 'P|2|2')],
    ['perhaps paid', null],
  ])('where a journal knows it as %s', async (_, record) => {
    const first = await run(bare(1, 2), 'P', 'R');
    const second = await given(first.ledger, bare(2, 3), {}, 'R', 'P');
    await merge(first, 'manual', attemptOf(first, 2, record, LATER));
    const why = expect.stringContaining(`${first.ref.id}-2`);
    expect(await retryAt(second, moment, 1)).toMatchObject([{ why }]);
    expect(codes(await planCsv(first.ledger, failed(second, 2)))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  });

  test('also between a comparison and the retry', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    const second = await given(first.ledger, bare(2, 3), {}, 'R', 'P');
    beforeRetry(second, () => merge(first, 'manual', attemptOf(first, 2, PAID, LATER)));
    const why = expect.stringContaining(`${first.ref.id}-2`);
    expect(await retryAt(second, moment, 1)).toMatchObject([{ why }]);
  });

  test('where a loss was accepted and a person found it paid', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    const second = await given(first.ledger, bare(2, 3), {}, 'R', 'P');
    await acceptMissing(mergeContext(first, 'manual'), REMOVED, { who: 'ada', at: moment() });
    await concludeAs(first, 2, 'D', 'P');
    await concludeAs(second, 1, 'D', 'X');
    expect(await retry(second, 1)).toMatchObject({ why: expect.stringContaining(`${first.ref.id}-2`) });
  });

  test('with a reference or without', async () => {
    const first = await run('member,tokens,reference\n2,5,r-1\n', 'R');
    const second = await given(first.ledger, bare(2, 3), {}, 'R', 'P');
    expect(await retry(first, 1)).toBe('ok');
    expect(await retry(second, 1)).toMatchObject({ why: expect.stringContaining(`${first.ref.id}-1`) });
  });
});

test('what a cancelled batch has paid is read from its archive or not at all, by a plan of the new rows and by a retry', async () => {
  const { realm } = await bench.ledger();
  const folder = await tempFolder();
  const at = (path: string) =>
    openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: path }), realm);
  const [here, away] = [at(folder), at(await tempFolder())];
  const file = bare(1, 2, 3, 4, 5, 6);
  const old = await given(here, bare(6, 7), {}, 'R', 'P');
  const cancelled = await given(here, file, {}, 'P', 'P');
  await cancelBatch(cancelled.ref, audit('cancelled'));
  expect(await archiveBatch(cancelled.ref, folder)).toBeDefined();
  const { sketch } = batchKeys(here.keyPrefix, cancelled.no);
  for (const withSketch of [false, true]) {
    const bytes = await here.scripts.redis.getBuffer(sketch);
    if (!withSketch) await here.scripts.redis.del(sketch);
    await expect(planCsv(away, file, { newRowsOnly: true })).rejects.toMatchObject({
      code: 'ALM_LEDGER_ARCHIVE_MISSING',
      message: expect.stringContaining(`Batch ${cancelled.ref.id} is archived, and its file /`),
    });
    const why = expect.stringContaining('is archived, and its file /');
    expect(await retryAt({ ...old, ref: { ...old.ref, ledger: away } }, moment, 1)).toMatchObject([{ why }]);
    const rest = await planCsv(here, file, { newRowsOnly: true });
    expect([codes(rest), rest.spent.count]).toEqual([[], 2]);
    await here.scripts.redis.set(sketch, bytes ?? '');
  }
  // What it does not meet needs no archive; what it may meet is seen once more at the seal.
  expect(codes(await planCsv(away, bare(8, 9), { newRowsOnly: true }))).toEqual([]);
  const rest = await planCsv(here, file, { newRowsOnly: true });
  await expect(putPlan(away, rest)).rejects.toMatchObject({ code: 'ALM_LEDGER_ARCHIVE_MISSING' });
  expect(await retryAt(old, moment, 1)).toEqual(['ok']);
});
