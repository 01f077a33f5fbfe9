import { type BatchId, type OrderId, orderId } from '../../src/core/ids.js';
import { OPS, type Order } from '../../src/core/order.js';
import { type Books, openBooks, registerRealm } from '../../src/ledger/books.js';
import { Caller, newNonce } from '../../src/ledger/caller.js';
import { retryOrder } from '../../src/ledger/dead.js';
import { readFence } from '../../src/ledger/fence.js';
import { batchKeys } from '../../src/ledger/keys.js';
import { encodePlanBlock, type PlanRow } from '../../src/ledger/plan-block.js';
import { blockClaims, dropBatch, openBatch, putBlock } from '../../src/ledger/plan-store.js';
import { decodeRecord, type OrderRecord } from '../../src/ledger/record.js';
import { sealBatch } from '../../src/ledger/sealing.js';
import { listSessions } from '../../src/ledger/sessions.js';
import { conclude } from '../../src/ledger/settling.js';
import { cancelBatch, pauseBatch, releaseRealm, resumeBatch } from '../../src/ledger/steering.js';
import type { Manifest, Reason } from '../../src/ledger/views.js';
import type { App } from '../../src/runtime/app.js';
import { recoverRealms } from '../../src/runtime/operations/recovery.js';
import { namedOrders } from '../support/named-orders.js';
import { type Machine, on } from './machine.js';
import { Link } from './store.js';
import type { World } from './wiring.js';

/** What a person does and sees: files, commands, and what the program says of orders that stand still. */

export type Row = {
  readonly order: Order;
  readonly reference: string | null;
  readonly replaces: OrderId | null;
  /** What somebody wanted once: a row that stands in for another has that one's. */
  readonly intention: string;
};
export type File = { readonly id: BatchId; readonly rows: readonly Row[] };

export type BatchSight = {
  readonly no: string;
  readonly state: string;
  readonly records: readonly OrderRecord[];
};

const WHY: Reason = { code: 'ALM_BATCH_REFUSALS', message: 'somebody says so', next: 'nothing' };

export class Operator {
  readonly books: Books;
  private readonly link: Link;
  private moments = 0;

  constructor(private readonly world: World) {
    this.link = new Link(world.store, () => {});
    this.books = openBooks(new Caller(this.link.redis, Number.POSITIVE_INFINITY, () => {}), world.owner);
  }

  arrive(): Promise<void> {
    return registerRealm(this.books);
  }

  /** Numbers by batch id, of the batches that the store has. */
  async numbers(): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.books.caller.redis.hgetall(`${this.books.realm}:batches`)));
  }

  /** Answers whether the store has it now: rows whose originals moved on are refused. */
  async importFile(file: File): Promise<boolean> {
    const { books } = this;
    const importer = newNonce();
    const at = Date.now();
    const numbers = await this.numbers();
    const opened = await openBatch(books, {
      content: `rows of ${file.id}`,
      id: file.id,
      importer,
      createdAt: at,
    });
    if (opened.status === 'sealed') return true;
    const rows = file.rows.map(planRow);
    const claims = blockClaims(1, rows, (batch) => numbers.get(batch));
    const put = await putBlock(books, { no: opened.no, importer, block: 0 }, encodePlanBlock(rows), claims);
    if (put !== 'ok') {
      await dropBatch(books, { no: opened.no, importer }, 1, () => Promise.resolve(claims));
      return false;
    }
    const sum = rows.reduce((total, { order }) => total + BigInt(order?.tokens ?? 0), 0n);
    await sealBatch(
      books,
      { no: opened.no, importer, owner: '' },
      manifestOf(this.world, file, at),
      { 'c:p': String(rows.length), 't:p': String(sum), 'c:d': '0', 't:d': '0', 'c:i': '0', 't:i': '0' },
      { at, who: 'ada', what: 'imported', why: null },
    );
    return true;
  }

  /** The batch as it stands, or undefined where the store does not have it. */
  async look(file: File): Promise<BatchSight | undefined> {
    const { redis } = this.books.caller;
    const no = await redis.hget(`${this.books.realm}:batches`, file.id);
    if (no === null) return undefined;
    const keys = batchKeys(this.books.realm, no);
    const [state, stored] = await Promise.all([
      redis.hget(keys.meta, 'state'),
      redis.hgetall(keys.records(0)),
    ]);
    if (state === null || state === 'importing') return undefined;
    return { no, state, records: file.rows.map((_, i) => decodeRecord(stored[String(i + 1)])) };
  }

  async steer(verb: 'pause' | 'resume' | 'cancel', no: string): Promise<void> {
    const audit = { at: this.moment(), who: 'ada', what: verb, why: null };
    if (verb === 'pause') await pauseBatch(this.books, no, WHY, audit);
    else if (verb === 'cancel') await cancelBatch(this.books, no, audit);
    else await resumeBatch(this.books, no, audit, { owner: '' });
  }

  /** A realm that was halted goes on: its key was tried. */
  async release(): Promise<void> {
    await releaseRealm(this.books);
  }

  async retry(file: File, no: string, index: number): Promise<void> {
    const row = planRowAt(file, index);
    const by = { who: 'ada', why: null, at: this.moment(), nonce: newNonce() };
    await retryOrder({ books: this.books, no, id: file.id }, index, row, by);
  }

  /** Ends a doubt as `almoner doubt resolve` does. */
  async resolve(file: File, no: string, index: number, record: OrderRecord, paid: boolean): Promise<void> {
    const at = this.moment();
    await conclude(this.books, { no, index }, planRowAt(file, index), {
      from: 'D',
      to: paid ? 'P' : 'X',
      evidence: 'operator',
      detail: {
        event: 'concluded',
        at,
        state: paid ? 'paid' : 'exhausted',
        by: 'ada',
        code: paid ? null : 'ALM_SEND_SAID_UNPAID',
        message: 'ada has looked',
      },
      sentAt: record.sentAt ?? at,
      dueInMs: 0,
      audit: JSON.stringify({ at, who: 'ada', what: 'resolved', why: 'seen' }),
      balance: null,
      tries: record.tries,
      settleMs: this.world.profile.settleMs,
    });
  }

  /** `almoner recover` on this machine; with a session, `--accept-missing` it. */
  recover(machine: Machine, lost: string | null): Promise<void> {
    const { profile } = this.world;
    const config = { profiles: [profile], dataFolder: machine.folder, operator: 'ada' };
    const app: App = Object.create(null, {
      caller: { value: new Caller(this.link.redis, Number.POSITIVE_INFINITY, () => {}, null, machine.here) },
      config: { value: config },
      logger: { value: { warn: ({ message }: { message: string }) => this.world.trouble(message) } },
    });
    return on(machine, async () => {
      await recoverRealms(app, lost).catch((error: unknown) => this.world.trouble(String(error)));
    });
  }

  async sessions(): Promise<string[]> {
    return (await listSessions(this.books)).map(({ id }) => id);
  }

  async armed(): Promise<boolean> {
    return (await readFence(this.books)).armed;
  }

  /** The orders of which the program tells people why they stand still. */
  async named(file: File, { no }: BatchSight): Promise<ReadonlySet<number>> {
    return new Set((await namedOrders({ books: this.books, no, id: file.id })).keys());
  }

  /** Audit entries and details tell calls apart by their text: each has a moment of its own. */
  private moment(): number {
    this.moments += 1;
    return Date.now() + this.moments;
  }
}

function planRowAt(file: File, index: number): PlanRow & { readonly order: Order } {
  const row = file.rows[index - 1];
  if (row === undefined) throw new Error(`${orderId(file.id, index)} is not in the file`);
  return { ...planRow(row, index - 1), order: row.order };
}

function planRow({ order, reference, replaces }: Row, offset: number): PlanRow {
  return {
    line: offset + 2,
    order,
    reference,
    reason: null,
    replaces,
    cells: [],
    fault: null,
    duplicateOf: null,
    undoes: null,
  };
}

function manifestOf({ owner, profile }: World, file: File, createdAt: number): Manifest {
  const orders = { credit: 0, debit: 0, transfer: 0 };
  const tokens = { credit: 0n, debit: 0n, transfer: 0n };
  for (const { order } of file.rows)
    for (const op of OPS)
      if (order.op === op) {
        orders[op] += 1;
        tokens[op] += BigInt(order.tokens);
      }
  return {
    batch: file.id,
    realm: owner.name,
    realmId: owner.realmId,
    baseUrl: owner.baseUrl,
    rehearsal: false,
    certainty: profile.certainty,
    currency: null,
    keyLifetimeMs: profile.keyLifetimeMs,
    source: `${file.id}.csv`,
    delimiter: ',',
    header: [],
    rows: file.rows.length,
    orders,
    tokens,
    members: file.rows.length,
    duplicates: 0,
    invalid: 0,
    sha256: file.id.padEnd(64, '0'),
    again: null,
    inOrder: false,
    sliceMs: 1_000,
    mode: 'import',
    createdAt,
    createdBy: 'ada',
  };
}
