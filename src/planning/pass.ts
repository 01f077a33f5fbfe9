import { setImmediate as turn } from 'node:timers/promises';
import type { Column } from '../core/columns.js';
import { counted } from '../core/counted.js';
import type { BatchId } from '../core/ids.js';
import { NO_SUMS, type OpSums, plus, sumOf } from '../core/op-sums.js';
import type { Order } from '../core/order.js';
import type { RealmProfile } from '../core/profile.js';
import { type ContentWords, contentWords } from '../core/reference.js';
import { columnNamed } from '../csv/columns.js';
import type { ColumnOptions } from '../csv/mapping.js';
import type { MemberTable } from '../csv/member-table.js';
import type { Finding, Row, Sheet } from '../csv/row.js';
import { idOfBatch, PLAN_BLOCK_ROWS, planning, type RealmLedger, reading } from '../ledger/index.js';
import { FileTotals } from './file-totals.js';
import type { Findings } from './findings.js';
import { ComparedRows } from './paid-before/compared-rows.js';
import { BatchDigest } from './paid-before/identity.js';
import { BlockJudge, type JudgedBlock } from './paid-before/judge-block.js';
import { EarlierBatches } from './paid-before/judge-earlier.js';
import type { Spent } from './paid-before/looks-paid.js';

export type PlanOptions = {
  readonly ledger: RealmLedger;
  readonly profile: RealmProfile;
  /** Which line is the header, and what its columns mean. */
  readonly wish?: ColumnOptions;
  /** Turns wallets and handles into members. */
  readonly table?: MemberTable | null;
  readonly again: string | null;
  /** The id that a person gives the batch: one that journals know is found by it. */
  readonly batchId?: BatchId | null;
  /** Rows that were paid before are left out instead of refusing the file. */
  readonly newRowsOnly?: boolean;
  /** Of a run of a rule, and part of the batch's identity: the same orders may be meant again by the rule's next run. */
  readonly run?: number | null;
  /** Bad rows are carried along as `invalid` instead of refusing the file. */
  readonly skipInvalid: boolean;
  /** The realm's address is meant, although its id was paid under another. */
  readonly newAddress?: boolean;
  /** This ledger is meant, although this machine has paid the realm from another one. */
  readonly newLedger?: boolean;
  /** Whether it can have been paid before that moment; a file may be of any age. */
  readonly mayPrecede?: (moment: number) => boolean;
  readonly now: number;
  /** Part of the plan then; closed by whoever hands them in where no plan comes of it. */
  readonly findings?: Findings;
};

/** Orders that a preview spells out. */
const FIRST_ORDERS = 3;

function originOf(row: Row): ContentWords | undefined {
  return row.kind === 'order' && row.origin !== undefined ? contentWords(row.origin) : undefined;
}

/** Rows to a question to the ledger; a multiple of PLAN_BLOCK_ROWS. */
const JUDGED_ROWS = 2 * PLAN_BLOCK_ROWS;
/** Questions under way while the next rows are read. */
const JUDGED_AHEAD = 2;

/** The one passage of all rows through judging, counting, hashing and packing. */
export class Pass {
  readonly totals: FileTotals;
  readonly bare: ComparedRows;
  readonly blocks: Buffer[] = [];
  readonly referenceWrites: planning.BlockClaims[] = [];
  private readonly digest: BatchDigest;
  private readonly sketched: planning.SketchWriter;
  readonly firstOrders: Order[] = [];
  private rows = 0;
  private readonly batches: EarlierBatches;
  private readonly judge: BlockJudge;
  private readonly bySpender = new Map<string, { count: number; tokens: OpSums }>();
  readonly replaced = new HeldBack();
  private readonly judging: Promise<JudgedBlock>[] = [];
  private pending: Row[] = [];

  constructor(
    private readonly options: PlanOptions,
    private readonly findings: Findings,
    sheet: Sheet,
  ) {
    const { ledger, profile, again, run = null } = options;
    this.digest = new BatchDigest(profile, again, profile.currency, run);
    const nameOf = (column: Column) =>
      sheet.spelt === undefined
        ? sheet.header.find((name) => columnNamed(name) === column)
        : sheet.spelt.get(column);
    this.batches = new EarlierBatches(ledger);
    const { currency } = profile;
    const plans = new reading.PlanReader(ledger);
    const isRun = options.run !== undefined;
    this.judge = new BlockJudge({ ledger, plans, batches: this.batches, currency, nameOf, isRun });
    this.totals = new FileTotals(sheet);
    this.bare = new ComparedRows();
    this.sketched = new planning.SketchWriter(options.table != null);
  }

  async add(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      this.pending.push(row);
      if (this.pending.length === JUDGED_ROWS) await this.flush();
    }
  }

  async flush(): Promise<void> {
    if (this.pending.length === 0) return;
    const judging = this.judge.judge(this.pending, this.options.skipInvalid);
    // A refusal is met where the block is taken; until then nobody listens.
    judging.catch(() => {});
    this.judging.push(judging);
    this.pending = [];
    if (this.judging.length > JUDGED_AHEAD) await this.takeJudged();
  }

  async finish(): Promise<void> {
    await this.flush();
    while (this.judging.length > 0) await this.takeJudged();
  }

  /** Takes the blocks in the file's order, whatever order the ledger answered in. */
  private async takeJudged(): Promise<void> {
    // The store answers many questions at once; what follows from all of them in one go would hold up the process.
    await turn();
    const judged = await this.judging.shift();
    if (judged === undefined) return;
    const sketched = judged.rows.map(({ row, hashes, since, replacedNo }) => {
      const words = { content: hashes && contentWords(hashes.content), origin: originOf(row) };
      this.count(row, words, since, replacedNo);
      return words;
    });
    this.sketched.add(sketched);
    for (const { no, order } of judged.duplicates) {
      const sum = this.bySpender.get(no) ?? { count: 0, tokens: NO_SUMS };
      this.bySpender.set(no, {
        count: sum.count + 1,
        tokens: plus(sum.tokens, sumOf(order.op, order.tokens)),
      });
    }
    for (const { no, finding } of judged.replaced) this.replaced.add(no, finding);
    for (const finding of judged.warnings) this.findings.warning(finding);
    for (let from = 0; from < judged.rows.length; from += PLAN_BLOCK_ROWS) {
      const rows = judged.rows.slice(from, from + PLAN_BLOCK_ROWS);
      const planned = rows.map((row) => row.planned);
      const first = this.blocks.length * PLAN_BLOCK_ROWS + 1;
      const noOf = (id: BatchId) => this.batches.numbers.get(id);
      this.referenceWrites.push(
        planning.blocks.claims(first, planned, noOf, (offset) => rows[offset]?.hashes),
      );
      this.blocks.push(planning.blocks.encode(planned));
    }
  }

  private count(
    row: Row,
    { content, origin }: Parameters<planning.SketchWriter['add']>[0][number],
    since: string | undefined,
    replacedNo: string | undefined,
  ): void {
    this.rows += 1;
    this.totals.add(row);
    if (row.kind === 'invalid') {
      const severity = this.options.skipInvalid ? 'warning' : 'fault';
      for (const finding of row.findings) this.findings[severity](finding);
      return;
    }
    this.digest.add(row);
    if (this.firstOrders.length < FIRST_ORDERS) this.firstOrders.push(row.order);
    if (row.reference !== null || content === undefined) return;
    this.bare.add(this.rows, row.line, content, since);
    if (origin !== undefined) this.bare.addOrigin(this.rows, row.line, origin, replacedNo);
  }

  /** The identity of the batch: 64 hex digits. */
  content(): string {
    return this.digest.hex();
  }

  sketch(): Buffer {
    return this.sketched.bytes();
  }

  /** References that this very batch holds are no duplicates. */
  async spent(ownNo: string | null): Promise<Spent> {
    const others = [...this.bySpender].filter(([no]) => no !== ownNo);
    const ids = await Promise.all(others.map(([no]) => idOfBatch(this.options.ledger, no)));
    return {
      count: others.reduce((sum, [, { count }]) => sum + count, 0),
      tokens: others.reduce((sum, [, { tokens }]) => plus(sum, tokens), NO_SUMS),
      batches: ids.filter((id) => id !== null),
    };
  }
}

const HELD_BACK_MAX = 1000;

/**
 * Rows whose order a row of another batch stands in for, by that batch's number. Which batch the file is, is known
 * only at its end: a million rows of a file that is given again are held back, and none of them is a fault.
 */
class HeldBack {
  private readonly batches = new Map<string, { kept: Finding[]; more: number }>();

  add(no: string, finding: Finding): void {
    const held = this.batches.get(no) ?? { kept: [], more: 0 };
    this.batches.set(no, held);
    if (held.kept.length < HELD_BACK_MAX) held.kept.push(finding);
    else held.more += 1;
  }

  /** Orders for which this very batch stands in already are no faults. */
  fault(findings: Findings, ownNo: string | null): void {
    for (const [no, { kept, more }] of this.batches) {
      if (no === ownNo) continue;
      for (const finding of kept) findings.fault(finding);
      const last = kept.at(-1);
      if (more > 0 && last !== undefined)
        findings.fault({
          ...last,
          message: `${last.message} So were those of ${counted(more, 'row')} after it.`,
        });
    }
  }
}
