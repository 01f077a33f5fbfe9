import { type BatchId, batchId } from '../core/ids.js';
import type { RealmProfile } from '../core/profile.js';
import { type EarlierAddress, earlierAddresses } from '../ledger/addresses.js';
import type { Books } from '../ledger/books.js';
import { PLAN_BLOCK_ROWS } from '../ledger/keys.js';
import { encodePlanBlock } from '../ledger/plan-block.js';
import { type BlockClaims, blockClaims, type PlanReader } from '../ledger/plan-store.js';
import { type ContentWords, contentWords, SKETCH_ROW_BYTES } from '../ledger/reference.js';
import { BrokenFile } from './broken-file.js';
import type { ColumnMap } from './column-map.js';
import { type Column, columnNamed } from './columns.js';
import { BatchDigest } from './digest.js';
import { type ExistingBatch, identify, maybeForgotten } from './earlier.js';
import { Findings } from './findings.js';
import { HeldBack } from './held-back.js';
import { BlockJudge, type JudgedBlock } from './judge-block.js';
import { leaveOut, noteRepeats } from './looks-paid.js';
import type { Source } from './open.js';
import { addressFinding } from './other-address.js';
import { parseSheet } from './parse.js';
import { ComparedRows, findRepeats, NO_REPEATS, type Repeats } from './repeats.js';
import type { Row, Sheet } from './row.js';
import { Survey, type SurveyResult } from './survey.js';

/**
 * A plan: what a file would do, computed without any write. The rows pass once: parsed, judged against the
 * ledger, surveyed, hashed and packed into the blocks that an import stores; a million rows stay in some
 * tens of megabytes.
 */
export type Plan = {
  readonly source: string;
  readonly sheet: Sheet | null;
  readonly survey: SurveyResult;
  readonly findings: Findings;
  /** The batch of these orders, and its place in the books when they are already there. */
  readonly batch: BatchId | null;
  readonly content: string | null;
  /** The identity that 0.1.0 gave these orders, which left the currency out; null where it is the same. */
  readonly former: string | null;
  readonly existing: ExistingBatch | null;
  readonly blocks: readonly Buffer[];
  /** What each block takes when it is stored. */
  readonly claims: readonly BlockClaims[];
  /** Rows that another batch pays or has paid, and their sum: their reference, or, with new rows only, the row. */
  readonly spent: { readonly count: number; readonly tokens: bigint; readonly batches: readonly BatchId[] };
  /** Rows without references, and which of them were paid before: both are looked at again at the seal. */
  readonly bare: ComparedRows;
  readonly repeats: Repeats;
  readonly sketch: Buffer;
  readonly again: string | null;
  readonly newRowsOnly: boolean;
  readonly mayPrecede: (moment: number) => boolean;
  /** Addresses under which the realm was paid before, and beside which this one is meant. */
  readonly movedFrom: readonly EarlierAddress[];
  /** The number of the rule's run that these orders are of. */
  readonly run: number | null;
};

export type PlanOptions = {
  readonly books: Books;
  readonly plans: PlanReader;
  readonly profile: RealmProfile;
  readonly map: ColumnMap;
  readonly again: string | null;
  /** Rows that were paid before are left out instead of refusing the file. */
  readonly newRowsOnly?: boolean;
  /** Part of the batch's identity: the same orders may be meant again by the next run of a rule. */
  readonly run?: number | null;
  /** Bad rows are carried along as `invalid` instead of refusing the file. */
  readonly skipInvalid: boolean;
  /** The realm's address is meant, although its id was paid under another. */
  readonly newAddress?: boolean;
  /** Whether it can have been paid before that moment; a file may be of any age. */
  readonly mayPrecede?: (moment: number) => boolean;
  readonly now: number;
};

export async function planSource(source: Source, options: PlanOptions): Promise<Plan> {
  const { profile, again, newRowsOnly = false } = options;
  const findings = new Findings();
  const parsed = await parseSheet(source, {
    realms: [profile.name, profile.realmId],
    currency: profile.currency,
    maxTokensPerOrder: profile.caps.maxTokensPerOrder,
    map: options.map,
  });
  if (!parsed.ok) {
    for (const finding of parsed.faults) findings.fault(finding);
    const survey = new Survey().finish(profile.caps);
    return { ...NOTHING, source: source.name, survey, findings, again, newRowsOnly };
  }
  const skipInvalid = options.skipInvalid && !parsed.standsIn;
  if (skipInvalid !== options.skipInvalid) findings.warning(TAKEN_WHOLE);
  return planBlocks(source.name, parsed.sheet, parsed.blocks, { ...options, skipInvalid }, findings);
}

/** An invalid row is no order, so that nothing would tie what is made of it later to the order that it stood in for. */
const TAKEN_WHOLE = {
  line: 0,
  column: 'almoner_order',
  code: 'ALM_PLAN_FAULTS',
  message:
    'The rows stand in for earlier orders, so that none of them is skipped: mend a faulty one, or delete it from the file.',
} as const;

/** The same for rows that come from no file, such as the awards of a rule; `source` is its name for people. */
export async function planRows(
  source: string,
  sheet: Sheet,
  rows: readonly Row[],
  options: Omit<PlanOptions, 'map'>,
): Promise<Plan> {
  return planBlocks(source, sheet, [rows], { ...options, map: new Map() }, new Findings());
}

async function planBlocks(
  source: string,
  sheet: Sheet,
  blocks: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  options: PlanOptions,
  findings: Findings,
): Promise<Plan> {
  const { books, profile, again, newRowsOnly = false } = options;
  const pass = new Pass(options, findings, sheet);
  let whole = true;
  try {
    for await (const block of blocks) await pass.add(block);
    await pass.finish();
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    whole = false;
    await pass.finish();
    findings.fault(error.finding);
  }
  const identity = whole ? await identify(books, { ...pass.identity(), newRowsOnly }) : null;
  const over = identity?.existing?.view ?? null;
  pass.bare.whenever = identity?.cancelled ?? [];
  // --again says: the same payments once more, on purpose. An import that was never sealed says nothing of what became
  // of it in a past that the store has forgotten.
  const isNew = identity !== null && over === null && again === null;
  const { mayPrecede = NOTHING.mayPrecede } = options;
  const forgotten = isNew ? await maybeForgotten(books, identity, mayPrecede, options.now) : null;
  if (forgotten !== null) findings.fault(forgotten);
  const repeats = isNew ? await findRepeats(books, pass.bare, options.now) : NO_REPEATS;
  if (!newRowsOnly) noteRepeats(findings, repeats);
  // A batch that these books have already is only gone on with.
  const movedFrom = over === null ? await earlierAddresses(books) : [];
  if (movedFrom.length > 0)
    findings[options.newAddress ? 'warning' : 'fault'](addressFinding(books, movedFrom));
  pass.replaced.fault(findings, identity?.existing?.no ?? null);
  const left = newRowsOnly ? leaveOut(repeats, pass.blocks, pass.claims) : NOTHING.spent;
  const spent = await pass.spent(identity?.existing?.no ?? null);
  const survey = pass.survey.finish(profile.caps, spent.tokens + left.tokens);
  for (const finding of survey.faults)
    if (finding.code !== 'ALM_FILE_NO_ROWS' || (whole && findings.faultCount === 0)) findings.fault(finding);
  for (const finding of survey.warnings) findings.warning(finding);
  return {
    source,
    sheet,
    survey,
    findings,
    batch: identity?.batch ?? null,
    content: identity?.content ?? null,
    former: identity?.former ?? null,
    existing: identity?.existing ?? null,
    blocks: pass.blocks,
    claims: pass.claims,
    spent: {
      count: spent.count + left.count,
      tokens: spent.tokens + left.tokens,
      batches: [...new Set([...spent.batches, ...left.batches])],
    },
    bare: pass.bare,
    repeats,
    sketch: pass.sketch(),
    again,
    newRowsOnly,
    mayPrecede,
    movedFrom,
    run: options.run ?? null,
  };
}

const NOTHING = {
  sheet: null,
  batch: null,
  content: null,
  former: null,
  existing: null,
  blocks: [],
  claims: [],
  spent: { count: 0, tokens: 0n, batches: [] },
  bare: new ComparedRows(null),
  repeats: NO_REPEATS,
  sketch: Buffer.alloc(0),
  mayPrecede: (_moment: number) => true,
  movedFrom: [],
  run: null,
} as const;

/** Rows to a question to the ledger; a multiple of PLAN_BLOCK_ROWS. */
const JUDGED_ROWS = 2 * PLAN_BLOCK_ROWS;
/** Questions under way while the next rows are read. */
const JUDGED_AHEAD = 2;

/** One passage of all rows. */
class Pass {
  readonly survey: Survey;
  readonly bare: ComparedRows;
  readonly blocks: Buffer[] = [];
  readonly claims: BlockClaims[] = [];
  private readonly digest: BatchDigest;
  private readonly former: BatchDigest | null;
  private readonly sketches: Buffer[] = [];
  private rows = 0;
  private readonly judge: BlockJudge;
  private readonly bySpender = new Map<string, { count: number; tokens: bigint }>();
  readonly replaced = new HeldBack();
  private readonly judging: Promise<JudgedBlock>[] = [];
  private pending: Row[] = [];

  constructor(
    private readonly options: PlanOptions,
    private readonly findings: Findings,
    sheet: Sheet,
  ) {
    const { books, profile, plans, again, run = null } = options;
    this.digest = new BatchDigest(profile, again, profile.currency, run);
    // Runs had no numbers then.
    this.former = profile.currency === null || run !== null ? null : new BatchDigest(profile, again, null);
    const nameOf = (column: Column) =>
      options.map.get(column) ?? sheet.header.find((name) => columnNamed(name) === column);
    this.judge = new BlockJudge(books, plans, profile.currency, nameOf);
    this.survey = new Survey(sheet);
    this.bare = new ComparedRows(profile.currency);
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

  /** In the file's order, whatever order the ledger answered in. */
  private async takeJudged(): Promise<void> {
    const judged = await this.judging.shift();
    if (judged === undefined) return;
    const numbers = await this.judge.replacedNumbers(judged.planned);
    const sketch = Buffer.alloc(judged.rows.length * SKETCH_ROW_BYTES);
    for (const [at, row] of judged.rows.entries()) {
      const hash = judged.hashes[at]?.content;
      const content = hash === undefined ? undefined : contentWords(hash);
      sketch.writeUInt32LE(content?.[0] ?? 0, at * SKETCH_ROW_BYTES);
      this.count(row, content, judged.since[at]);
    }
    this.sketches.push(sketch);
    for (const { no, tokens } of judged.duplicates) {
      const sum = this.bySpender.get(no) ?? { count: 0, tokens: 0n };
      this.bySpender.set(no, { count: sum.count + 1, tokens: sum.tokens + BigInt(tokens) });
    }
    for (const { no, finding } of judged.replaced) this.replaced.add(no, finding);
    for (const finding of judged.warnings) this.findings.warning(finding);
    for (let from = 0; from < judged.planned.length; from += PLAN_BLOCK_ROWS) {
      const planned = judged.planned.slice(from, from + PLAN_BLOCK_ROWS);
      const first = this.blocks.length * PLAN_BLOCK_ROWS + 1;
      const hashesAt = (offset: number) => judged.hashes[from + offset];
      this.claims.push(blockClaims(first, planned, (id) => numbers.get(id), hashesAt));
      this.blocks.push(encodePlanBlock(planned));
    }
  }

  private count(row: Row, content: ContentWords | undefined, since: string | undefined): void {
    this.rows += 1;
    this.survey.add(row);
    if (row.kind === 'invalid') {
      const severity = this.options.skipInvalid ? 'warning' : 'fault';
      for (const finding of row.findings) this.findings[severity](finding);
      return;
    }
    this.digest.add(row);
    this.former?.add(row);
    if (row.reference !== null || content === undefined) return;
    this.bare.add(this.rows, row.line, content, since);
  }

  identity(): { content: string; former: string | null; currency: string | null } {
    const { currency } = this.options.profile;
    return { content: this.digest.hex(), former: this.former?.hex() ?? null, currency };
  }

  sketch(): Buffer {
    return Buffer.concat(this.sketches);
  }

  /** References that this very batch holds are no duplicates. */
  async spent(ownNo: string | null): Promise<Plan['spent']> {
    const others = [...this.bySpender].filter(([no]) => no !== ownNo);
    const { caller, realm } = this.options.books;
    const ids = await Promise.all(
      others.map(([no]) => caller.patiently('read batch', () => caller.redis.hget(`${realm}:b:${no}`, 'id'))),
    );
    return {
      count: others.reduce((sum, [, { count }]) => sum + count, 0),
      tokens: others.reduce((sum, [, { tokens }]) => sum + tokens, 0n),
      batches: ids.flatMap((id) => (id === null ? [] : [batchId(id)])),
    };
  }
}
