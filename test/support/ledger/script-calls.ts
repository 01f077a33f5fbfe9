import { batchId } from '../../../src/core/ids.js';
import type { Certainty } from '../../../src/core/profile.js';
import type { Begun } from '../../../src/ledger/moves/begin-sending.js';
import { turnDown } from '../../../src/ledger/moves/conclude.js';
import { giveUpBatch } from '../../../src/ledger/moves/give-up.js';
import { openBatch } from '../../../src/ledger/moves/import-batch.js';
import { acceptLost, orphan } from '../../../src/ledger/moves/orphan.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { releaseImport } from '../../../src/ledger/moves/release-import.js';
import { replay } from '../../../src/ledger/moves/replay.js';
import { discardOrder, retryOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import type { BatchRef } from '../../../src/ledger/realm-ledger.js';
import { referenceKey } from '../../../src/ledger/reference.js';
import { attemptOf, mergeContext, PAID, REFUSED, WAITS } from './journaled-attempt.js';
import { type Line, planRow, START, sealed, type TestBatch } from './ledgers-on-redis.js';
import {
  audit,
  begin,
  claimFor,
  concludeAs,
  feedAll,
  moment,
  type SettledCode,
  sendAs,
  settleAs,
  WHY,
} from './order-moves.js';

/**
 * Every way in which the program calls a script that may move an order. The test calls each one on an order in every
 * state; the script must either refuse the order or move it.
 */
export type ScriptCall = {
  readonly script: string;
  /** The call moves more than one order, or ends a session, so it needs a batch of its own. */
  readonly isWide?: boolean;
  /** The order has a reference, `r-<index>`. */
  readonly isReferenced?: boolean;
  readonly call: (batch: TestBatch, index: number) => Promise<unknown>;
};

const RESEND = { nonce: 'resend', keyAgeMaxMs: 60_000 } as const;
const EXHAUSTED = WAITS.replace('w|', 'X|');
const DIED = {
  event: 'orphaned',
  at: START,
  key: 'k.1',
  session: 'worker',
  code: null,
  message: 'died',
} as const;

async function begunAs(batch: TestBatch, index: number): Promise<Begun> {
  const { keyNumber, attempts, tries } = await readRecord(batch.ref, index);
  const clock = { keyFirstAt: START, firstSentAt: START, sentAt: START, settleMs: 0, unansweredUntil: null };
  return { keyNumber, attempts, tries, resend: false, seq: 0, ...clock };
}

const settles = (['P', 'R', 'X', 'w', 'u', 'D'] satisfies SettledCode[]).map(
  (code): ScriptCall => ({
    script: 'settle',
    async call(batch, index) {
      const { nonce } = await readRecord(batch.ref, index);
      return settleAs(batch, index, code, await begunAs(batch, index), { nonce: nonce ?? '' });
    },
  }),
);

const concludes = (['u', 'D'] as const).flatMap((from) =>
  (['P', 'X', 'w', 'D'] as const).map(
    (to): ScriptCall => ({
      script: 'conclude',
      call: (batch, index) => concludeAs(batch, index, from, to),
    }),
  ),
);

function turnedDown(
  move: { from: 'planned'; to: 'refused' | 'exhausted' } | { from: 'unknown'; to: 'doubt' },
) {
  return async (batch: TestBatch, index: number) => {
    const claimed = move.from === 'planned' ? await claimFor(batch, index) : null;
    const { nonce } = await readRecord(batch.ref, index);
    const hold = claimed !== null && 'hold' in claimed ? claimed.hold : '';
    return turnDown(batch.ledger, { no: batch.no, index }, batch.row(index), {
      batch: batch.ref.id,
      move: move.from === 'planned' ? { ...move, hold } : { ...move, attempt: nonce ?? '' },
      tries: 3,
      status: null,
      errorCode: 'ALM_SEND_UNREAD',
      silent: false,
      dueInMs: 0,
      detail: null,
      evidence: null,
      refusalReason: WHY,
      slice: 0,
    });
  };
}

const orphans = (['u', 'D', 'w'] as const).map(
  (to): ScriptCall => ({
    script: 'orphan',
    async call(batch, index) {
      const { session, nonce } = await readRecord(batch.ref, index);
      const of = { session: session ?? '', row: batch.row(index), attempt: nonce ?? '' };
      return orphan(batch.ledger, { no: batch.no, index }, of, { detail: { ...DIED, at: moment() }, to });
    },
  }),
);

/** An operator gives up the sending session. The store has not been rolled back. */
const given = (['u', 'D'] as const).map(
  (to): ScriptCall => ({
    script: 'accept-lost',
    isWide: true,
    async call({ ledger, ref, no, row }, index) {
      const { session, nonce } = await readRecord(ref, index);
      const { run, era } = await readFence(ledger);
      const { redis } = ledger.scripts;
      await redis.hset(`${ledger.keyPrefix}:sessions`, session ?? 'worker', '{}');
      await redis.hset(`${ledger.keyPrefix}:joined`, session ?? 'worker', `${run} ${era}`);
      const order = { no, index, row: row(index), attempt: nonce ?? '', detail: DIED, to };
      return acceptLost(ledger, session ?? 'worker', { who: 'ada', at: START }, [order]);
    },
  }),
);

const TOLD = [
  { record: PAID },
  { record: WAITS },
  { record: REFUSED },
  { record: EXHAUSTED },
  { record: null },
  { record: null, certainty: 'idempotent' },
  { record: null, underWay: true },
] as const;

/** A journal holds the attempt that the record names, or another one. */
const replays = (['this attempt', 'another'] as const).flatMap((which) =>
  TOLD.map(
    (told): ScriptCall => ({
      script: 'replay',
      async call(batch, index) {
        const { record } = told;
        const certainty: Certainty = 'certainty' in told ? told.certainty : 'manual';
        const { nonce, attempts } = await readRecord(batch.ref, index);
        const of =
          which === 'another'
            ? { nonce: 'there', attempts: attempts + 1, certainty }
            : { nonce: nonce ?? `nonce-${index}`, attempts, certainty };
        const context = mergeContext(batch, certainty, 'underWay' in told ? [of.nonce] : []);
        return replay(context, attemptOf(batch, index, record, of));
      },
    }),
  ),
);

/** A paid order has taken the reference meanwhile, as a rollback may leave it. */
async function loseReference(batch: TestBatch, index: number, tokens: number): Promise<void> {
  const { ledger } = batch;
  const { shard, fieldHex } = referenceKey(`r-${index}`);
  await ledger.scripts.redis.hdel(`${ledger.keyPrefix}:ref:${shard}`, Buffer.from(fieldHex, 'hex'));
  const line: Line = { member: String(9000 + index), reference: `r-${index}`, tokens };
  const holder = await sealed(ledger, [line], { id: `${batch.ref.id}-${index}-holder` });
  await feedAll(holder);
  await sendAs(holder, 1, 'P', { nonce: `holder-${index}` });
}

const withoutReference = [5, 8].map(
  (tokens): ScriptCall => ({
    script: 'begin-sending',
    isReferenced: true,
    async call(batch, index) {
      await loseReference(batch, index, tokens);
      return begin(batch, index, RESEND);
    },
  }),
);

/**
 * A row of an unfinished import stands in for the order. The script refuses the block if the order may still be paid.
 */
async function putInstead({ ledger, ref, no }: TestBatch, index: number): Promise<BatchRef> {
  const rows = [planRow({ member: String(9000 + index), replaces: { batch: ref.id, index } }, 1)];
  const [id, importer] = [batchId(`${ref.id}-${index}-instead-${moment()}`), 'importer'];
  const opened = await openBatch(ledger, { content: id, id, importer, createdAt: START });
  const claims = blockClaims(1, rows, () => no);
  await putBlock(ledger, { no: opened.no, importer, block: 0 }, encodePlanBlock(rows), claims);
  return { ledger, no: opened.no, id };
}

export const SCRIPT_CALLS: readonly ScriptCall[] = [
  { script: 'begin-sending', call: (batch, index) => begin(batch, index, { nonce: 'first' }) },
  { script: 'begin-sending', call: (batch, index) => begin(batch, index, RESEND) },
  ...withoutReference,
  ...settles,
  ...concludes,
  { script: 'turn-down', call: turnedDown({ from: 'planned', to: 'refused' }) },
  { script: 'turn-down', call: turnedDown({ from: 'planned', to: 'exhausted' }) },
  { script: 'turn-down', call: turnedDown({ from: 'unknown', to: 'doubt' }) },
  ...orphans,
  ...given,
  ...replays,
  {
    script: 'give-up',
    isWide: true,
    call: (batch) => giveUpBatch(mergeContext(batch, 'manual'), batch.no, { message: 'lost', at: START }),
  },
  {
    script: 'retry',
    call: ({ ref, row }, index) =>
      retryOrder(ref, index, row(index), { who: 'ada', why: null, at: START, nonce: `retry-${moment()}` }),
  },
  {
    script: 'discard',
    call: ({ ref }, index) => discardOrder(ref, index, { who: 'ada', why: 'left', at: START }),
  },
  { script: 'steer', isWide: true, call: ({ ref }) => cancelBatch(ref, audit('cancelled')) },
  { script: 'put-block', call: putInstead },
  {
    script: 'drop-batch',
    call: async (batch, index) => releaseImport(await putInstead(batch, index)),
  },
];
