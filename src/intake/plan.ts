import { type BatchId, batchId } from '../core/ids.js';
import type { RealmProfile } from '../core/profile.js';
import { type EarlierAddress, earlierAddresses } from '../ledger/addresses.js';
import type { Books } from '../ledger/books.js';
import { PLAN_BLOCK_ROWS } from '../ledger/keys.js';
import { encodePlanBlock } from '../ledger/plan-block.js';
import { type BlockClaims, blockClaims, type PlanReader } from '../ledger/plan-store.js';
import { BrokenFile } from './broken-file.js';
import type { ColumnMap } from './column-map.js';
import { type Column, columnNamed } from './columns.js';
import { BatchDigest, contentDigest, sampleDigest } from './digest.js';
import { findEarlier } from './earlier.js';
import { Findings } from './findings.js';
import { BlockJudge, type JudgedBlock } from './judge-block.js';
import type { Source } from './open.js';
import { addressFinding } from './other-address.js';
import { parseSheet } from './parse.js';
import type { Finding, Row, Sheet } from './row.js';
import { Smallest256 } from './smallest.js';
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
  readonly existing: { readonly no: string; readonly id: BatchId; readonly sealed: boolean } | null;
  readonly blocks: readonly Buffer[];
  /** What each block takes when it is stored. */
  readonly claims: readonly BlockClaims[];
  /** Rows whose reference another batch keeps spent, and their sum. */
  readonly spent: { readonly count: number; readonly tokens: bigint; readonly batches: readonly BatchId[] };
  readonly digests: readonly string[];
  readonly again: string | null;
  /** Addresses under which the realm was paid before, and beside which this one is meant. */
  readonly movedFrom: readonly EarlierAddress[];
};

export type PlanOptions = {
  readonly books: Books;
  readonly plans: PlanReader;
  readonly profile: RealmProfile;
  readonly map: ColumnMap;
  readonly again: string | null;
  /** Bad rows are carried along as `invalid` instead of refusing the file. */
  readonly skipInvalid: boolean;
  /** The realm's address is meant, although its id was paid under another. */
  readonly newAddress?: boolean;
  /** Whether it can have been paid before that moment; a file may be of any age. */
  readonly mayPrecede?: (moment: number) => boolean;
  readonly now: number;
};

export async function planSource(source: Source, options: PlanOptions): Promise<Plan> {
  const { profile, again } = options;
  const findings = new Findings();
  const parsed = await parseSheet(source, {
    realms: [profile.name, profile.realmId],
    currency: profile.currency,
    maxTokensPerOrder: profile.caps.maxTokensPerOrder,
    map: options.map,
  });
  if (!parsed.ok) {
    for (const finding of parsed.faults) findings.fault(finding);
    return { ...NOTHING, source: source.name, survey: new Survey().finish(profile.caps), findings, again };
  }
  return planBlocks(source.name, parsed.sheet, parsed.blocks, options, findings);
}

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
  const { books, profile, again } = options;
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
  const survey = pass.survey.finish(profile.caps);
  for (const finding of survey.faults)
    if (whole || finding.code !== 'ALM_FILE_NO_ROWS') findings.fault(finding);
  for (const finding of survey.warnings) findings.warning(finding);

  const content = whole ? pass.digest.hex() : null;
  const former = whole ? (pass.former?.hex() ?? null) : null;
  const earlier = await findEarlier(books, {
    content,
    former,
    currency: profile.currency,
    survey,
    bare: pass.bare.list(),
    again,
    batches: [content, former].flatMap((one) => (one === null ? [] : [shortId(one)])),
    mayPrecede: options.mayPrecede ?? (() => true),
    now: options.now,
  });
  if (earlier.finding !== null) findings[earlier.finding.severity](earlier.finding.finding);
  // A batch that these books have already is only gone on with.
  const movedFrom = earlier.existing?.sealed ? [] : await earlierAddresses(books);
  if (movedFrom.length > 0)
    findings[options.newAddress ? 'warning' : 'fault'](addressFinding(books, movedFrom));
  pass.faultReplaced(earlier.existing?.no ?? null);
  const spent = await pass.spent(earlier.existing?.no ?? null);
  return {
    source,
    sheet,
    survey,
    findings,
    batch: content === null ? null : shortId(content),
    content,
    former,
    existing: earlier.existing,
    blocks: pass.blocks,
    claims: pass.claims,
    spent,
    digests: pass.all.list(),
    again,
    movedFrom,
  };
}

/** Sixty bits of the content's hash in letters that are hard to misread. */
export function shortId(content: string): BatchId {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const bits = BigInt(`0x${content.slice(0, 16)}`) >> 4n;
  const letters = Array.from(
    { length: 12 },
    (_, i) => alphabet[Number((bits >> BigInt(5 * (11 - i))) & 31n)],
  );
  return batchId(letters.join(''));
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
  digests: [],
  movedFrom: [],
} as const;

/** Rows to a question to the ledger; a multiple of PLAN_BLOCK_ROWS. */
const JUDGED_ROWS = 2 * PLAN_BLOCK_ROWS;
/** Questions under way while the next rows are read. */
const JUDGED_AHEAD = 2;

const HELD_BACK_MAX = 1000;

/** One passage of all rows. */
class Pass {
  readonly survey: Survey;
  readonly digest: BatchDigest;
  readonly former: BatchDigest | null;
  readonly all = new Smallest256();
  /** Rows that nothing but their content identifies: what the looks-paid guard compares. */
  readonly bare = new Smallest256();
  readonly blocks: Buffer[] = [];
  readonly claims: BlockClaims[] = [];
  private readonly judge: BlockJudge;
  private readonly bySpender = new Map<string, { count: number; tokens: bigint }>();
  private readonly replaced = new Map<string, { kept: Finding[]; more: number }>();
  private readonly judging: Promise<JudgedBlock>[] = [];
  private pending: Row[] = [];

  constructor(
    private readonly options: PlanOptions,
    private readonly findings: Findings,
    sheet: Sheet,
  ) {
    const { books, profile, plans, again } = options;
    this.digest = new BatchDigest(profile, again, profile.currency);
    this.former = profile.currency === null ? null : new BatchDigest(profile, again, null);
    const nameOf = (column: Column) =>
      options.map.get(column) ?? sheet.header.find((name) => columnNamed(name) === column);
    this.judge = new BlockJudge(books, plans, profile.currency, nameOf);
    this.survey = new Survey(sheet);
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
    for (const [at, row] of judged.rows.entries()) this.count(row, judged.hashes[at]?.content);
    for (const { no, tokens } of judged.duplicates) {
      const sum = this.bySpender.get(no) ?? { count: 0, tokens: 0n };
      this.bySpender.set(no, { count: sum.count + 1, tokens: sum.tokens + BigInt(tokens) });
    }
    for (const finding of judged.faults) this.findings.fault(finding);
    for (const { no, finding } of judged.replaced) this.holdBack(no, finding);
    for (const finding of judged.warnings) this.findings.warning(finding);
    const numbers = await this.judge.replacedNumbers(judged.planned);
    for (let from = 0; from < judged.planned.length; from += PLAN_BLOCK_ROWS) {
      const planned = judged.planned.slice(from, from + PLAN_BLOCK_ROWS);
      const first = this.blocks.length * PLAN_BLOCK_ROWS + 1;
      const hashesAt = (offset: number) => judged.hashes[from + offset];
      this.claims.push(blockClaims(first, planned, (id) => numbers.get(id), hashesAt));
      this.blocks.push(encodePlanBlock(planned));
    }
  }

  private count(row: Row, content: string | undefined): void {
    this.survey.add(row);
    if (row.kind === 'invalid') {
      const severity = this.options.skipInvalid ? 'warning' : 'fault';
      for (const finding of row.findings) this.findings[severity](finding);
      return;
    }
    this.digest.add(row);
    this.former?.add(row);
    const digest = content === undefined ? contentDigest(row) : sampleDigest(content);
    this.all.add(digest);
    if (row.reference === null && row.replaces === null) this.bare.add(digest);
  }

  /** A million rows of a file that is given again are held back, and none of them is a fault. */
  private holdBack(no: string, finding: Finding): void {
    const held = this.replaced.get(no) ?? { kept: [], more: 0 };
    this.replaced.set(no, held);
    if (held.kept.length < HELD_BACK_MAX) held.kept.push(finding);
    else held.more += 1;
  }

  /** Orders for which this very batch stands in already are no faults. */
  faultReplaced(ownNo: string | null): void {
    for (const [no, { kept, more }] of this.replaced) {
      if (no === ownNo) continue;
      for (const finding of kept) this.findings.fault(finding);
      const last = kept.at(-1);
      if (more > 0 && last !== undefined)
        this.findings.fault({ ...last, message: `${last.message} So were those of ${more} rows after it.` });
    }
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
