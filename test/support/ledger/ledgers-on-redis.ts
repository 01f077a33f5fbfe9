import { createHash } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { type BatchId, batchId, type MemberId, memberId, orderId } from '../../../src/core/ids.js';
import { OPS, type Op, type Order } from '../../../src/core/order.js';
import type { Requirement } from '../../../src/core/people.js';
import { tokens } from '../../../src/core/points.js';
import type { AfterRollback } from '../../../src/core/profile.js';
import { PLAN_BLOCK_ROWS, REALMS_KEY } from '../../../src/ledger/keys.js';
import {
  openBatch,
  registerRealm,
  type SealedCounts,
  type SealedRun,
  sealBatch,
} from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { encodePlanBlock, type PlanRow } from '../../../src/ledger/plan-block.js';
import { BY_NOBODY, type Prepared } from '../../../src/ledger/read/gate.js';
import { type BatchRef, openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import type { Manifest } from '../../../src/ledger/views.js';
import { startRedis, type TestRedis } from '../redis-server.js';

/** Creates ledgers on a real Redis, and sealed batches in them, with one call each. */

export const START = Date.UTC(2026, 2, 1, 9, 0, 0);

export type LedgersOnRedis = {
  /** An empty ledger of a realm that no other test of the file uses. */
  ledger(asked?: { readonly afterRollback: AfterRollback }): Promise<RealmLedger>;
  readonly redis: () => TestRedis;
};

/**
 * Starts one Redis server per test file. At the end every key must lie in the hash slot of its realm, as Redis Cluster
 * requires.
 */
export function ledgersOnRedis(): LedgersOnRedis {
  let server: TestRedis | undefined;
  let realms = 0;
  const redis = () => {
    if (server === undefined) throw new Error('Redis is not started');
    return server;
  };
  beforeAll(async () => {
    // These tests exercise the scripts. The store's tests check that writes survive a crash.
    server = await startRedis(['--appendonly', 'no']);
  });
  afterAll(async () => {
    const keys = await redis().client().keys('*');
    await redis().stop();
    const strays = keys.filter((key) => key !== REALMS_KEY && !/^almoner:\{[0-9a-f]{12}\}(:|$)/.test(key));
    if (strays.length > 0) throw new Error(`keys outside the slot of a realm: ${strays.join(', ')}`);
  });
  return {
    redis,
    async ledger(asked = { afterRollback: 'continue' as const }) {
      realms += 1;
      const scripts = new ScriptClient(redis().client(), 10_000, () => {});
      const owner = {
        name: 'meadow',
        baseUrl: 'http://127.0.0.1:1',
        realmId: `realm-${realms}`,
        rehearsal: false,
      };
      const ledger = openLedger(scripts, owner, asked);
      await registerRealm(ledger);
      await joinAs(ledger, 'worker');
      return ledger;
    },
  };
}

/** The same ledger as a process with another profile sees it: `requirement` is what one person may pay alone. */
export function limitedTo(ledger: RealmLedger, requirement: Requirement): RealmLedger {
  return { ...ledger, batchers: new Map(), asked: { ...ledger.asked, requirement } };
}

/** Makes `session` the caller from here on. The store knows it, and no process waits for its journal. */
export async function joinAs({ mark, scripts, keyPrefix }: RealmLedger, session: string): Promise<void> {
  if (mark.session === session) return;
  Object.assign(mark, { session, begun: 0 });
  await scripts.ask('join', (redis) => redis.hsetnx(`${keyPrefix}:begun`, session, '0'));
}

/** One row: by default a credit of 5 to a member that no other row uses. */
export type Line = {
  readonly op?: Op;
  readonly member?: string;
  readonly to?: string;
  readonly tokens?: number;
  readonly reference?: string;
  readonly reason?: string;
  readonly replaces?: { readonly batch: BatchId; readonly index: number };
  readonly duplicateOf?: string;
  readonly invalid?: boolean;
  readonly undoes?: PlanRow['undoes'];
};

type PlannedRow = PlanRow & { readonly order: Order };

export type TestBatch = {
  readonly ledger: RealmLedger;
  readonly ref: BatchRef;
  readonly no: string;
  readonly rows: readonly PlanRow[];
  readonly owner: string;
  row(index: number): PlannedRow;
};

export type SealOptions = {
  readonly id?: string;
  readonly owner?: string;
  readonly importer?: string;
  readonly manifest?: Partial<Manifest>;
  readonly batchNumberOf?: (batch: BatchId) => string | undefined;
  readonly run?: SealedRun;
  readonly prepared?: Partial<Prepared>;
};

export async function sealed(
  ledger: RealmLedger,
  lines: readonly Line[],
  options: SealOptions = {},
): Promise<TestBatch> {
  const rows = lines.map((line, i) => planRow(line, i + 1));
  const content = contentHash(lines, options.id ?? '');
  const id = batchId(options.id ?? `b-${content.slice(0, 10)}`);
  const importer = options.importer ?? 'importer';
  const owner = options.owner ?? '';
  const opened = await openBatch(ledger, {
    content,
    id,
    importer,
    createdAt: START,
  });
  for (const [block, part] of blocksOf(rows).entries()) {
    const claims = blockClaims(block * PLAN_BLOCK_ROWS + 1, part, options.batchNumberOf ?? (() => undefined));
    const put = await putBlock(ledger, { no: opened.no, importer, block }, encodePlanBlock(part), claims);
    if (put !== 'ok') throw new Error(`block ${block} was not stored: ${JSON.stringify(put)}`);
  }
  const manifest = manifestOf(ledger, id, rows, options.manifest);
  const audit = { at: START, who: 'ada', what: 'imported', why: null };
  const at = { no: opened.no, importer, owner };
  const seal = await sealBatch(
    ledger,
    at,
    { manifest, counts: countersOf(rows), audit },
    {
      run: options.run ?? null,
      prepared: { ...BY_NOBODY, ...options.prepared },
    },
  );
  if (typeof seal === 'object' || seal === 'noted' || seal === 'disarmed' || seal === 'nameless')
    throw new Error(`not sealed: ${JSON.stringify(seal)}`);
  return testBatch(ledger, opened.no, id, rows, owner);
}

export function testBatch(
  ledger: RealmLedger,
  no: string,
  id: BatchId,
  rows: readonly PlanRow[],
  owner = '',
): TestBatch {
  return {
    ledger,
    ref: { ledger, no, id },
    no,
    rows,
    owner,
    row(index) {
      const row = rows[index - 1];
      if (row?.order == null) throw new Error(`row ${index} is no order`);
      return { ...row, order: row.order };
    },
  };
}

/** The plan row for a line. Without a named member, the index becomes the member. */
export function planRow(line: Line, index: number): PlanRow {
  const order = line.invalid === true ? null : orderOf(line, index);
  return {
    line: index + 1,
    order,
    reference: line.reference ?? null,
    reason: line.reason ?? null,
    replaces: line.replaces === undefined ? null : orderId(line.replaces.batch, line.replaces.index),
    cells: [line.member ?? String(9000 + index), String(line.tokens ?? 5)],
    fault: line.invalid === true ? { code: 'ALM_ROW_TOKENS_INVALID', message: 'tokens: not digits' } : null,
    duplicateOf: line.duplicateOf ?? null,
    undoes: line.undoes ?? null,
  };
}

function orderOf(line: Line, index: number): Order {
  const member: MemberId = memberId(line.member ?? String(9000 + index));
  const amount = tokens(line.tokens ?? 5);
  if (line.to !== undefined) return { op: 'transfer', member, recipient: memberId(line.to), tokens: amount };
  return { op: line.op === 'debit' ? 'debit' : 'credit', member, recipient: null, tokens: amount };
}

export function blocksOf(rows: readonly PlanRow[]): PlanRow[][] {
  const blocks: PlanRow[][] = [];
  for (let first = 0; first < rows.length; first += PLAN_BLOCK_ROWS)
    blocks.push(rows.slice(first, first + PLAN_BLOCK_ROWS));
  return blocks;
}

export function contentHash(lines: readonly Line[], salt = ''): string {
  return createHash('sha256')
    .update(JSON.stringify([lines, salt]))
    .digest('hex');
}

export function manifestOf(
  ledger: RealmLedger,
  batch: BatchId,
  rows: readonly PlanRow[],
  changes: Partial<Manifest> = {},
): Manifest {
  const orders = { credit: 0, debit: 0, transfer: 0 };
  const sums = { credit: 0n, debit: 0n, transfer: 0n };
  for (const { order } of rows)
    for (const op of OPS)
      if (order?.op === op) {
        orders[op] += 1;
        sums[op] += BigInt(order.tokens);
      }
  return {
    batch,
    fileSha256: null,
    table: null,
    realm: ledger.realm.name,
    realmId: ledger.realm.realmId,
    baseUrl: ledger.realm.baseUrl,
    rehearsal: false,
    certainty: 'manual',
    currency: null,
    keyLifetimeMs: 60_000,
    source: 'orders.csv',
    delimiter: ',',
    header: ['member', 'tokens'],
    rows: rows.length,
    orders,
    tokens: sums,
    members: rows.length,
    duplicates: rows.filter(({ order, duplicateOf }) => order !== null && duplicateOf !== null).length,
    invalid: rows.filter(({ order }) => order === null).length,
    sha256: 'c0ffee'.padEnd(64, '0'),
    again: null,
    columns: null,
    warnings: { count: 0, first: [] },
    inOrder: false,
    sliceMs: 1_000,
    mode: 'import',
    createdAt: START,
    createdBy: 'ada',
    ...changes,
  };
}

export function countersOf(rows: readonly PlanRow[]): SealedCounts {
  const of = (some: readonly PlanRow[]) => ({
    count: some.length,
    tokens: some.reduce((total, { order }) => total + BigInt(order?.tokens ?? 0), 0n),
  });
  const invalid = rows.filter(({ order }) => order === null);
  const duplicate = rows.filter(({ order, duplicateOf }) => order !== null && duplicateOf !== null);
  const planned = rows.filter(({ order, duplicateOf }) => order !== null && duplicateOf === null);
  return { planned: of(planned), duplicate: of(duplicate), invalid: of(invalid) };
}
