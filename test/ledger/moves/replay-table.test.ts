import { describe, expect, test } from 'vitest';
import type { Certainty } from '../../../src/core/profile.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { replay } from '../../../src/ledger/moves/replay.js';
import { discardOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { archivedRecord } from '../../../src/ledger/read/batch-source.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { decodeRecord, type StateCode } from '../../../src/ledger/record.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { attemptOf, mergeContext, PAID, REFUSED, WAITS } from '../../support/ledger/journaled-attempt.js';
import { type Line, ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { tempFolder } from '../../support/temp-folder.js';

/**
 * Tests every cell of the table that `replay` decides by: the order’s state in the ledger against the attempt in the
 * journal. A cell is the state afterwards; `!` marks a reported second payment.
 */
const bench = ledgersOnRedis();

const TOLD = { paid: PAID, waits: WAITS, refused: REFUSED, none: null, 'under way': null } as const;
type Told = keyof typeof TOLD;
const TOLDS = ['paid', 'waits', 'refused', 'none', 'under way'] as const satisfies readonly Told[];
type Cells = readonly [string, string, string, string, string];

/** The ledger’s own attempt of the order, `here`; a worker’s moves produce the states. */
const MADE = {
  planned: async () => {},
  'planned again': (batch: TestBatch) => sendAs(batch, 1, 'w', { nonce: 'here' }),
  sending: (batch: TestBatch) => begun(batch, 1, { nonce: 'here' }),
  unknown: (batch: TestBatch) => sendAs(batch, 1, 'u', { nonce: 'here' }),
  doubt: (batch: TestBatch) => sendAs(batch, 1, 'D', { nonce: 'here' }),
  refused: (batch: TestBatch) => sendAs(batch, 1, 'R', { nonce: 'here' }),
  exhausted: (batch: TestBatch) => sendAs(batch, 1, 'X', { nonce: 'here' }),
  discarded: async (batch: TestBatch) => {
    await sendAs(batch, 1, 'X', { nonce: 'here' });
    await discardOrder(batch.ref, 1, { who: 'ada', why: 'left', at: 1 });
  },
  cancelled: async (batch: TestBatch) => {
    await sendAs(batch, 1, 'w', { nonce: 'here' });
    await cancelBatch(batch.ref, audit('cancelled'));
  },
  paid: (batch: TestBatch) => sendAs(batch, 1, 'P', { nonce: 'here' }),
} as const;
type Made = keyof typeof MADE;

async function made(state: Made, line: Line = {}): Promise<TestBatch> {
  const batch = await sealed(await bench.ledger(), [line, {}]);
  await feedAll(batch);
  await MADE[state](batch);
  return batch;
}

type Telling = { readonly nonce: string; readonly keyNumber?: number; readonly attempts?: number };

/** The state after the merge, with `!` if a second payment was reported. Merging again changes nothing. */
async function heard(batch: TestBatch, certainty: Certainty, told: Told, attempt: Telling): Promise<string> {
  const context = mergeContext(batch, certainty, told === 'under way' ? [attempt.nonce] : []);
  const record = TOLD[told]?.replace('P|1|', `P|${attempt.keyNumber ?? 1}|`) ?? null;
  const tell = () => replay(context, attemptOf(batch, 1, record, { certainty, ...attempt }));
  const answer = await tell();
  const state = await stateOf(batch);
  const counts = (await readBatch(batch.ref))?.counts;
  expect(await tell()).not.toBe('second');
  expect([await stateOf(batch), (await readBatch(batch.ref))?.counts]).toEqual([state, counts]);
  expect(await tieUp(batch.ledger)).toEqual([]);
  return `${state}${answer === 'second' ? '!' : ''}`;
}

async function stateOf(batch: TestBatch): Promise<StateCode> {
  const { code } = await readRecord(batch.ref, 1);
  const cancelled = (await readBatch(batch.ref))?.state === 'cancelled' && (code === 'w' || code === 'p');
  return cancelled ? 'c' : code;
}

function walk(
  name: string,
  certainty: Certainty,
  attempt: Telling,
  table: Partial<Record<Made, Cells>>,
  line: Line = {},
): void {
  describe(name, () => {
    for (const [state, cells] of Object.entries(table))
      for (const [i, told] of TOLDS.entries())
        test(`${state} here, ${told} in the journal: ${cells[i]}`, async () => {
          expect(await heard(await made(state as Made, line), certainty, told, attempt)).toBe(cells[i]);
        });
  });
}

walk(
  'the same attempt, manual',
  'manual',
  { nonce: 'here' },
  {
    //                paid  waits refused none under way
    'planned again': ['P', 'w', 'w', 'w', 'w'],
    sending: ['P', 'w', 'R', 'D', 's'],
    unknown: ['P', 'w', 'R', 'u', 'u'],
    doubt: ['P', 'w', 'R', 'D', 'D'],
    refused: ['P', 'R', 'R', 'R', 'R'],
    exhausted: ['P', 'X', 'X', 'X', 'X'],
    cancelled: ['P', 'c', 'c', 'c', 'c'],
    paid: ['P', 'P', 'P', 'P', 'P'],
  },
);

walk(
  'another attempt, manual',
  'manual',
  { nonce: 'there' },
  {
    planned: ['P', 'w', 'R', 'D', 's'],
    'planned again': ['P', 'w', 'w', 'D', 's'],
    sending: ['P', 's', 's', 'D', 'D'],
    unknown: ['P', 'u', 'u', 'D', 'D'],
    doubt: ['P', 'D', 'D', 'D', 'D'],
    refused: ['P', 'R', 'R', 'D', 's'],
    exhausted: ['P', 'X', 'X', 'D', 's'],
    discarded: ['P', 'X', 'X', 'D', 'D'],
    cancelled: ['P', 'c', 'c', 'D', 's'],
    paid: ['P!', 'P', 'P', 'P!', 'P!'],
  },
);

walk(
  'another attempt under the same key, which is honoured',
  'idempotent',
  { nonce: 'there' },
  {
    planned: ['P', 'w', 'R', 'u', 's'],
    'planned again': ['P', 'w', 'w', 'u', 's'],
    sending: ['P', 's', 's', 'u', 'u'],
    unknown: ['P', 'u', 'u', 'u', 'u'],
    doubt: ['P', 'D', 'D', 'D', 'D'],
    exhausted: ['P', 'X', 'X', 'u', 's'],
    discarded: ['P', 'X', 'X', 'D', 'D'],
    cancelled: ['P', 'c', 'c', 'u', 's'],
    paid: ['P', 'P', 'P', 'P', 'P'],
  },
);

walk(
  'another attempt under another key',
  'idempotent',
  { nonce: 'there', keyNumber: 2 },
  {
    sending: ['P', 's', 's', 'D', 'D'],
    unknown: ['P', 'u', 'u', 'D', 'D'],
    doubt: ['P', 'D', 'D', 'D', 'D'],
    refused: ['P', 'R', 'R', 'u', 's'],
    paid: ['P!', 'P', 'P', 'P!', 'P!'],
  },
);

walk(
  'another attempt under read-back',
  'readback',
  { nonce: 'there' },
  {
    planned: ['P', 'w', 'R', 'u', 's'],
    sending: ['P', 's', 's', 'u', 'u'],
    unknown: ['P', 'u', 'u', 'u', 'u'],
    doubt: ['P', 'D', 'D', 'D', 'D'],
    refused: ['P', 'R', 'R', 'u', 's'],
    exhausted: ['P', 'X', 'X', 'u', 's'],
    cancelled: ['P', 'c', 'c', 'u', 's'],
    paid: ['P!', 'P', 'P', 'P!', 'P!'],
  },
);

describe('a later attempt that is to be retried adds to the attempts', () => {
  for (const state of ['planned', 'planned again'] as const)
    test(state, async () => {
      const batch = await made(state);
      expect(await heard(batch, 'manual', 'waits', { nonce: 'there', attempts: 3 })).toBe('w');
      expect(await readRecord(batch.ref, 1)).toMatchObject({ attempts: 3 });
    });
});

describe('left-out rows', () => {
  const LEFT_OUT = {
    paid: 'P',
    waits: 'ahead',
    refused: 'ahead',
    none: 'D',
    'under way': 'D',
  };
  for (const line of [{ duplicateOf: 'b-other-1' }, { invalid: true }] as const)
    for (const told of TOLDS)
      test(`${Object.keys(line)[0]} here, ${told} in the journal: the row stays left out`, async () => {
        const other = await sealed(await bench.ledger(), [{}]);
        const batch = await sealed(other.ledger, [line, {}], { id: 'rows' });
        const of = { ...attemptOf(other, 1, TOLD[told]).intent, batch: batch.ref.id };
        const attempt = { ...attemptOf(other, 1, TOLD[told]), intent: of };
        const expected = 'invalid' in line ? 'misfit' : LEFT_OUT[told];
        expect(await replay(mergeContext(batch, 'manual'), attempt)).toBe(expected);
        expect(await tieUp(batch.ledger)).toEqual([]);
      });
});

describe('a reference that another order was sent under', () => {
  for (const [told, expected] of Object.entries({
    paid: 'P',
    waits: 'X',
    refused: 'X',
    none: 'D',
    'under way': 'D',
  }))
    test(`exhausted here, ${told} in the journal: ${expected}`, async () => {
      const batch = await made('exhausted', { reference: 'r' });
      const other = await sealed(batch.ledger, [{ reference: 'r', member: '99' }], { id: 'other' });
      await feedAll(other);
      await sendAs(other, 1, 'P', { nonce: 'elsewhere' });
      const context = mergeContext(batch, 'idempotent', ['there'].slice(told === 'under way' ? 0 : 1));
      const attempt = { certainty: 'idempotent', nonce: 'there', attempts: 2 } as const;
      await replay(context, attemptOf(batch, 1, TOLD[told as Told], attempt));
      expect([await stateOf(batch), await stateOf(other)]).toEqual([expected, 'P']);
    });
});

describe('an archived order', () => {
  const CELLS = {
    paid: ['P!', 'P', 'P', 'P!', 'P!'],
    refused: ['R!', 'R', 'R', 'R!', 'R!'],
    exhausted: ['X!', 'X', 'X', 'X!', 'X!'],
  } as const;
  for (const [state, cells] of Object.entries(CELLS))
    for (const [i, told] of TOLDS.entries())
      test(`${state} in the archive, ${told} in the journal: ${cells[i]}`, async () => {
        const folder = await tempFolder();
        const { realm } = await bench.ledger();
        const ledger = openLedger(
          new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder }),
          realm,
        );
        const batch = await sealed(ledger, [{}]);
        await feedAll(batch);
        await MADE[state as Made](batch);
        expect(await archiveBatch(batch.ref, folder)).toBeDefined();
        const context = mergeContext(batch, 'manual', told === 'under way' ? ['there'] : []);
        const answer = await replay(context, attemptOf(batch, 1, TOLD[told], { nonce: 'there' }));
        const { code } = decodeRecord(await archivedRecord(batch.ref, 1));
        expect(`${code}${answer === 'second' ? '!' : ''}`).toBe(cells[i]);
      });
});
