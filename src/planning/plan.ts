import type { Column } from '../core/columns.js';
import { currencyName } from '../core/currencies.js';
import { absoluteOf, minus, NO_SUMS, plus } from '../core/op-sums.js';
import type { Order } from '../core/order.js';
import { NO_COLUMN_OPTIONS } from '../csv/mapping.js';
import type { MemberTable } from '../csv/member-table.js';
import type { Source } from '../csv/open.js';
import { type ParsedSheet, parseSheet } from '../csv/parse.js';
import { readProgramRows } from '../csv/program-rows.js';
import type { RowRules } from '../csv/read-row.js';
import { BrokenFile, type FileFaults, type FoundColumns, ofFile, type Row, type Sheet } from '../csv/row.js';
import type { TakenRow } from '../csv/take-rows.js';
import { planning, recovery } from '../ledger/index.js';
import { counted } from '../words/spelling.js';
import { FileTotals, type FileTotalsResult } from './file-totals.js';
import { Findings } from './findings.js';
import { ComparedRows } from './paid-before/compared-rows.js';
import { closedFinding, identify, type MaybeIdentity, maybeForgotten } from './paid-before/identity.js';
import { addressFinding, leaveOut, noteRepeats, noteTwins, type Spent } from './paid-before/looks-paid.js';
import { elsewhereFinding } from './paid-before/other-ledger.js';
import { findRepeats, NO_REPEATS, type Repeats } from './paid-before/repeats.js';
import { type TakenOver, takeOver } from './paid-before/take-over.js';
import { Pass, type PlanOptions } from './pass.js';

/**
 * A plan: what a file would do, computed without any write. The rows pass once: parsed, judged against the
 * ledger, surveyed, hashed and packed into the blocks that an import stores; a million rows stay in some
 * tens of megabytes.
 */
export type Plan = MaybeIdentity & {
  readonly source: string;
  readonly sheet: Sheet | null;
  readonly totals: FileTotalsResult;
  readonly findings: Findings;
  readonly blocks: readonly Buffer[];
  /** What each block takes when it is stored. */
  readonly referenceWrites: readonly planning.BlockClaims[];
  /** Rows that another batch pays or has paid, and their sum: their reference, or, with new rows only, the row. */
  readonly spent: Spent;
  /** Rows without references, and which of them were paid before: both are looked at again at the seal. */
  readonly bare: ComparedRows;
  readonly repeats: Repeats;
  /** Whether rows are compared with earlier orders: not where they were paid as this very batch. */
  readonly compares: boolean;
  /** The rows whose orders are in its batch already, recovered from journals; null where there is no such batch. */
  readonly takenOver: TakenOver | null;
  readonly sketch: Buffer;
  /** What its orders are paid in; null: the realm's own. */
  readonly currency: string | null;
  readonly again: string | null;
  readonly newRowsOnly: boolean;
  readonly mayPrecede: (moment: number) => boolean;
  /** Addresses under which the realm was paid before, and beside which this one is meant. */
  readonly movedFrom: readonly planning.EarlierAddress[];
  /** Other ledgers of this machine that have paid the realm, where this one is new and is meant. */
  readonly elsewhere: readonly recovery.PaidElsewhere[];
  /** The number of the rule's run that these orders are of. */
  readonly run: number | null;
  /** Null for rows that come from no file. */
  readonly found: FoundColumns | null;
  /** Of the file's bytes. */
  readonly fileSha256: string | null;
  /** The table that wallets and handles were looked up in. */
  readonly table: MemberTable | null;
  /** The first orders, for people. */
  readonly firstOrders: readonly Order[];
};

export async function planSource(source: Source, options: PlanOptions): Promise<Plan> {
  const { wish = NO_COLUMN_OPTIONS } = options;
  return planSheet(source.name, await parseSheet(source, { ...rulesOf(options), wish }), options);
}

/** The same of rows that a program gives; `name` is what people know them by. */
export function planGiven(name: string, rows: readonly TakenRow[], options: PlanOptions): Promise<Plan> {
  return planSheet(name, readProgramRows(rows, rulesOf(options)), options);
}

function rulesOf({ profile: { name, realmId, currency, caps }, table = null }: PlanOptions): RowRules {
  const { maxTokensPerOrder } = caps;
  return { realms: [name, realmId], currency, maxTokensPerOrder, members: table };
}

async function planSheet(
  source: string,
  parsed: ParsedSheet | FileFaults,
  options: PlanOptions,
): Promise<Plan> {
  const { findings = new Findings() } = options;
  if ('faults' in parsed) return planFaults(source, parsed, options);
  const skipInvalid = options.skipInvalid && !parsed.standsIn;
  if (skipInvalid !== options.skipInvalid) findings.warning(TAKEN_WHOLE);
  const plan = await planRows(source, parsed.sheet, parsed.blocks, { ...options, skipInvalid, findings });
  return { ...plan, found: parsed.found, fileSha256: parsed.sha256() };
}

/** The plan of a file whose rows were not looked at. */
export function planFaults(source: string, { faults, found }: FileFaults, options: PlanOptions): Plan {
  const { profile, again, newRowsOnly = false, findings = new Findings() } = options;
  for (const finding of faults) findings.fault(finding);
  const totals = new FileTotals().finish(profile.caps);
  return {
    ...NOTHING,
    source,
    totals,
    findings,
    currency: profile.currency,
    again,
    newRowsOnly,
    found: found ?? null,
  };
}

/** An invalid row is no order, so that nothing would tie what is made of it later to the order that it stood in for. */
const TAKEN_WHOLE = {
  line: 0,
  column: 'almoner_order',
  code: 'ALM_PLAN_FAULTS',
  message:
    'The rows stand in for earlier orders, so that none of them is skipped: mend a faulty one, or delete it from the file.',
} as const;

const NO_ORDERS = ofFile('ALM_FILE_NO_ROWS', 'No row is an order; there is nothing to pay.');

type Blocks = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

/** The options of a plan with their defaults. */
type Planning = PlanOptions & {
  readonly newRowsOnly: boolean;
  readonly findings: Findings;
  readonly mayPrecede: (moment: number) => boolean;
};

/** The same for rows that may come from no file, such as the awards of a rule; `source` is its name for people. */
export async function planRows(
  source: string,
  sheet: Sheet,
  blocks: Blocks,
  options: PlanOptions,
): Promise<Plan> {
  const { newRowsOnly = false, findings = new Findings(), mayPrecede = NOTHING.mayPrecede } = options;
  const wanted = { ...options, newRowsOnly, findings, mayPrecede };
  const { ledger, profile, again } = wanted;
  const pass = new Pass(options, findings, sheet);
  const whole = await readWhole(blocks, pass, findings);
  const identity = whole
    ? await identify(ledger, { content: pass.content(), newRowsOnly, batchId: options.batchId ?? null })
    : null;
  const over = identity?.existing?.view ?? null;
  setCompared(pass.bare, identity, wanted);
  const recovered = identity?.recovered ?? null;
  // --again says: the same payments once more, on purpose. An import that was never sealed says nothing of what became
  // of it in a past that the store has forgotten.
  const isSealed = identity === null || over !== null;
  const isNew = !isSealed && again === null;
  const forgotten = isNew ? await maybeForgotten(ledger, recovered, mayPrecede, options.now) : null;
  if (forgotten !== null) findings.fault(forgotten);
  const takenOver = takeOverRecovered(recovered, pass, wanted);
  const compares = !isSealed;
  const repeats = compares ? await findRepeats(ledger, pass.bare, options.now) : NO_REPEATS;
  if (!newRowsOnly) noteRepeats(findings, repeats, again, profile.currency);
  if (compares && again === null) noteTwins(findings, pass.bare);
  // A batch that these books have already only goes on.
  const others = over === null ? await notePaidElsewhere(wanted) : NONE_ELSEWHERE;
  const ownNo = identity?.existing?.no ?? recovered?.no ?? null;
  pass.replaced.fault(findings, ownNo);
  const sums = await sumUp(pass, wanted, { whole, ownNo, takenOver, repeats });
  return {
    ...(identity ?? NO_IDENTITY),
    ...sums,
    ...others,
    ...packed(pass),
    source,
    sheet,
    findings,
    repeats,
    compares,
    takenOver,
    currency: profile.currency,
    again,
    newRowsOnly,
    mayPrecede,
    run: options.run ?? null,
    found: null,
    fileSha256: null,
    table: options.table ?? null,
  };
}

function packed(pass: Pass) {
  const { blocks, referenceWrites, bare, firstOrders } = pass;
  return { blocks, referenceWrites, bare, sketch: pass.sketch(), firstOrders };
}

/** Answers whether the rows came to their end. */
async function readWhole(blocks: Blocks, pass: Pass, findings: Findings): Promise<boolean> {
  try {
    for await (const block of blocks) await pass.add(block);
    await pass.finish();
    return true;
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    await pass.finish();
    findings.fault(error.finding);
    return false;
  }
}

type FoundIdentity = Awaited<ReturnType<typeof identify>>;

/** Which rows are compared with earlier orders, and as what. */
function setCompared(
  bare: ComparedRows,
  identity: FoundIdentity | null,
  { batchId = null, again, newRowsOnly, findings }: Planning,
): void {
  const { recovered = null, existing = null, closed = null } = identity ?? {};
  bare.whenever = identity?.cancelled ?? [];
  bare.exact = newRowsOnly;
  bare.own = recovered?.id ?? existing?.id ?? batchId ?? identity?.batch ?? null;
  if (closed !== null) findings.fault(closedFinding(closed, batchId, again));
  bare.passed = new Set(recovered?.rows.keys());
  bare.label = again;
}

/** The rows whose orders journals knew already, where the batch of them is this file's. */
function takeOverRecovered(
  recovered: planning.RecoveredBatch | null,
  pass: Pass,
  { profile, findings }: Planning,
): TakenOver | null {
  const isOtherCurrency = recovered !== null && recovered.currency !== profile.currency;
  const takenOver =
    recovered === null || isOtherCurrency ? null : takeOver(recovered, pass.blocks, pass.referenceWrites);
  if (isOtherCurrency) findings.fault(paidInAnother(recovered, profile.currency));
  else if (recovered !== null && takenOver === null) findings.fault(otherOrders(recovered));
  return takenOver;
}

/** Notes where the realm was paid under another address, or from another ledger of this machine. */
async function notePaidElsewhere({ ledger, findings, newRowsOnly, ...options }: Planning) {
  const movedFrom = await planning.addresses.earlier(ledger);
  if (movedFrom.length > 0)
    findings[options.newAddress && !newRowsOnly ? 'warning' : 'fault'](
      addressFinding(ledger, movedFrom, newRowsOnly),
    );
  const elsewhere = await recovery.folders.ledgersElsewhere(ledger);
  if (elsewhere.length > 0)
    findings[options.newLedger && !newRowsOnly ? 'warning' : 'fault'](
      elsewhereFinding(ledger, elsewhere, newRowsOnly),
    );
  return { movedFrom, elsewhere };
}

const NONE_ELSEWHERE = { movedFrom: [], elsewhere: [] } as const;

/** The sums of the file without the rows that another batch pays, were paid before, or are in its batch already. */
async function sumUp(
  pass: Pass,
  { profile, findings, newRowsOnly }: Planning,
  of: Pick<Plan, 'takenOver' | 'repeats'> & { readonly whole: boolean; readonly ownNo: string | null },
): Promise<{ totals: FileTotalsResult; spent: Spent }> {
  const kept = of.takenOver ?? { indexes: new Set<number>(), tokens: NO_SUMS };
  const left = newRowsOnly
    ? leaveOut(of.repeats, pass.blocks, pass.referenceWrites, kept.indexes)
    : NOTHING.spent;
  const found = await pass.spent(of.ownNo);
  const { count, tokens } = of.takenOver?.heldElsewhere ?? NOTHING.spent;
  const spent = {
    count: found.count - count + left.count,
    tokens: plus(minus(found.tokens, tokens), left.tokens),
    batches: [...new Set([...found.batches, ...left.batches])],
  };
  const totals = pass.totals.finish(profile.caps, absoluteOf(plus(spent.tokens, kept.tokens)));
  for (const finding of totals.faults)
    if (of.whole || finding.code !== 'ALM_FILE_NO_ROWS') findings.fault(finding);
  if (findings.faultCount === 0 && totals.invalid === totals.rows) findings.fault(NO_ORDERS);
  for (const finding of totals.warnings) findings.warning(finding);
  return { totals, spent };
}

/** The orders that a plan pays, without those that were paid before or are in its batch already. */
export function toPay({ totals, spent, takenOver }: Plan) {
  const { credit, debit, transfer } = totals.orders;
  const duplicates = totals.duplicates + spent.count;
  const kept = takenOver ?? { indexes: new Set(), tokens: NO_SUMS };
  return {
    payable: credit + debit + transfer - duplicates - kept.indexes.size,
    payableTokens: minus(minus(totals.payable, spent.tokens), kept.tokens),
    duplicates,
  };
}

function otherOrders({ id, rows }: planning.RecoveredBatch) {
  return ofFile(
    'ALM_BATCH_ID_TAKEN',
    `Batch ${id} holds ${counted(rows.size, 'order')} that journals knew, and this file has other orders in their places. Give the file as it was, with the rows that were left out, or take the rows of these orders out of it: \`almoner report ${id}\` writes them.`,
  );
}

function paidInAnother({ id, currency, rows }: planning.RecoveredBatch, wanted: string | null) {
  return ofFile(
    'ALM_BATCH_ID_TAKEN',
    `Batch ${id} holds ${counted(rows.size, 'order')} in ${currencyName(currency)} that journals knew; this run is in ${currencyName(wanted)}. Run the file in that currency, or under another id.`,
  );
}

/** What is sealed of the table that gave the members: which it was, and which cells of a row were looked up in it. */
export function sealedTable({ table, sheet }: Plan) {
  if (table === null) return null;
  const cellOf = (column: Column) => sheet?.header.indexOf(sheet.spelt?.get(column) ?? '') ?? -1;
  const { name, sha256 } = table;
  return { name, sha256, member: cellOf('member'), recipient: cellOf('recipient') };
}

const NO_IDENTITY = { batch: null, content: null, existing: null, recovered: null } as const;

const NOTHING = {
  ...NO_IDENTITY,
  sheet: null,
  blocks: [],
  referenceWrites: [],
  spent: { count: 0, tokens: NO_SUMS, batches: [] },
  bare: new ComparedRows(),
  repeats: NO_REPEATS,
  compares: true,
  takenOver: null,
  sketch: Buffer.alloc(0),
  mayPrecede: (_moment: number) => true,
  movedFrom: [],
  elsewhere: [],
  run: null,
  fileSha256: null,
  table: null,
  firstOrders: [],
  found: null,
} as const;
