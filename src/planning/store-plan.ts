import { setTimeout as sleep } from 'node:timers/promises';
import { counted } from '../core/counted.js';
import { AlmonerError, isAlmonerError } from '../core/errors/error.js';
import { type BatchId, orderId } from '../core/ids.js';
import { absoluteOf, plus } from '../core/op-sums.js';
import type { RealmProfile } from '../core/profile.js';
import {
  type AuditEntry,
  type BatchRef,
  type BlockConflict,
  batchRef,
  decodePlanBlock,
  dropBatch,
  importState,
  judgedAt,
  type Manifest,
  NO_CLAIMS,
  type Opened,
  openBatch,
  overLimitText,
  PLAN_BLOCK_ROWS,
  type Prepared,
  putBlock,
  type RealmLedger,
  registerRealm,
  type SealedCounts,
  type SealedRun,
  sealBatch,
} from '../ledger/index.js';
import { refuseChanged, refuseOtherName, refuseSpent } from './before-seal.js';
import { shortId } from './identity.js';
import { denial } from './judge-earlier.js';
import { closedError, passPlaces, whyPlaces } from './other-ledger.js';
import { type Plan, sealedTable, toPay } from './plan.js';
import { sliceMsOf } from './preview.js';

/**
 * Puts a plan into the ledger: blocks first, each with its references and marks, then the seal. Two
 * importers of the same orders meet at the same batch: one writes, the other finds it sealed or takes over
 * what the first left unfinished.
 */
export type ImportOptions = {
  readonly ledger: RealmLedger;
  readonly profile: RealmProfile;
  readonly batchId: BatchId | null;
  readonly mode: 'run' | 'import';
  /** The session that works a run; empty for the workers. */
  readonly owner: string;
  readonly inOrder: boolean;
  /** How long the whole batch is expected to take; the chart of the run is sliced by it. */
  readonly expectedMs: number;
  readonly who: string;
  /** Asked before every try: other books may have moved. */
  readonly prepared: () => Promise<Prepared>;
  readonly importer: string;
  readonly now: number;
  readonly onProgress: (rows: number) => void;
  /** The run of a rule that the orders come from. */
  readonly run?: SealedRun | null;
  /**
   * Before every try to seal: whoever is to work the batch stands in the registry, and a store that was restarted
   * meanwhile is merged. Answers whether orders may be sent.
   */
  readonly join?: () => Promise<boolean>;
};

export type Imported = { readonly ref: BatchRef; readonly existing: boolean };

export async function importPlan(plan: Plan, options: ImportOptions): Promise<Imported> {
  const { ledger, profile } = options;
  if (plan.content === null || plan.batch === null || plan.sheet === null)
    throw new Error('only a whole plan can be imported');
  await registerRealm(ledger);
  const opened = await openBatch(ledger, {
    content: plan.content,
    former:
      plan.former === null
        ? null
        : { content: plan.former, id: shortId(plan.former), currency: profile.currency },
    id: options.batchId ?? plan.batch,
    importer: options.importer,
    createdAt: options.now,
  });
  const ref = { ledger, no: opened.no, id: opened.id };
  if (opened.status === 'sealed') return { ref, existing: true };
  if (opened.status === 'id-taken')
    throw new AlmonerError(
      'ALM_BATCH_ID_TAKEN',
      `The id ${opened.id} belongs to a batch of other orders. Nothing was imported.`,
    );

  const sealed = await store(plan, options, opened).catch(async (error: unknown) => {
    // A refusal takes everything back; a store that went away is left as it is, and importing again goes on.
    if (isAlmonerError(error) && error.code !== 'ALM_STORE_UNREACHABLE')
      await dropBatch(ledger, { no: opened.no, importer: options.importer }, plan.blocks.length, (block) =>
        Promise.resolve(plan.referenceWrites[block] ?? NO_CLAIMS),
      );
    throw error;
  });
  if (sealed === 'not-importer') return waitForSeal(ref);
  if (sealed === 'incomplete')
    throw new AlmonerError(
      'ALM_LEDGER_PLAN_MISSING',
      `The store has forgotten a part of batch ${opened.id} while it was imported. Nothing was sealed and nothing was sent.`,
      { next: 'Give the command again: it stores the whole plan anew. Find out why the store lost writes.' },
    );
  return { ref, existing: sealed === 'already' };
}

function whyOf(plan: Plan): string | null {
  const { again } = plan;
  const whys = [...(again === null ? [] : [`again: ${again}`]), ...whyPlaces(plan)];
  return whys.length === 0 ? null : whys.join('; ');
}

async function store(
  plan: Plan,
  options: ImportOptions,
  opened: Opened,
): Promise<'sealed' | 'already' | 'not-importer' | 'incomplete'> {
  const { ledger, importer, owner } = options;
  // Planned as a batch that the books have already, it was compared with nothing.
  if (!plan.compares && !plan.putBack)
    throw new AlmonerError(
      'ALM_LEDGER_PLAN_MISSING',
      `The store has forgotten batch ${opened.id} since this was planned. Nothing was enqueued and nothing was sent.`,
      { next: 'Give the command again: everything is judged anew. Find out why the store lost writes.' },
    );
  plan.bare.own = opened.id;
  if ((await putBlocks(plan, options, opened)) === 'not-importer') return 'not-importer';
  const manifest = manifestOf(plan, options, opened.id);
  const what = `${options.mode} of ${plan.source}: ${counted(manifest.rows, 'row')}`;
  const audit: AuditEntry = { at: options.now, who: options.who, what, why: whyOf(plan) };
  for (;;) {
    const armed = (await options.join?.()) ?? false;
    const judged = await judgedAt(ledger);
    await refuseOtherName(plan, ledger, opened.id);
    await refuseChanged(plan, ledger, options.now);
    await passPlaces(ledger, plan, { who: options.who, at: options.now });
    const { run = null } = options;
    const { sketch, putBack } = plan;
    const given = { sketch, judged, run, putBack, prepared: await options.prepared() };
    const at = { no: opened.no, importer, owner };
    const sealed = await sealBatch(ledger, at, manifest, countersOf(plan), audit, given);
    // Another batch was sealed since or an order retried, perhaps of the same rows, a loss was accepted, or another
    // address announced itself: after a pause of its own, because two that go on in step would stop each other again.
    if (sealed === 'moved') await sleep(Math.random() * MOVED_PAUSE_MS);
    // `disarmed`: restarted once more since it was merged.
    if (sealed === 'moved' || (sealed === 'disarmed' && armed)) continue;
    if (sealed === 'disarmed') throw await closedError(ledger);
    if (sealed === 'nameless' || sealed === 'noted')
      throw new AlmonerError(NOT_SEALED[sealed].code, `${NOT_SEALED[sealed].why} Nothing was enqueued.`);
    if (typeof sealed === 'object')
      throw new AlmonerError(
        'ALM_RULE_OVER_LIMIT',
        `${plan.source}: ${overLimitText(sealed)}. Nothing was enqueued.`,
      );
    return sealed;
  }
}

const NOT_SEALED = {
  nameless: {
    code: 'ALM_PEOPLE_NAMELESS',
    why: 'This realm requires a second person, and nobody knows who prepares this.',
  },
  noted: {
    code: 'ALM_RULE_ALREADY_RUN',
    why: 'Another process has dealt with this time of the schedule, the store has not reached it, or a person has held it back.',
  },
} as const;

const MOVED_PAUSE_MS = 50;

/** Puts under way at once: the store's fsync is shared, and its answer is not waited for row by row. */
const PUTS_AT_ONCE = 16;

type Put = 'ok' | 'not-importer';

async function putBlocks(plan: Plan, options: ImportOptions, opened: Opened): Promise<Put> {
  let [next, stored] = [0, 0];
  let end: Put = 'ok';
  const putSome = async () => {
    while (next < plan.blocks.length && end === 'ok') {
      if ((await putOne(plan, options, opened, next++)) === 'not-importer') end = 'not-importer';
      else options.onProgress(Math.min(++stored * PLAN_BLOCK_ROWS, plan.totals.rows));
    }
  };
  const puts = await Promise.allSettled(Array.from({ length: PUTS_AT_ONCE }, putSome));
  const failed = puts.find((put) => put.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return end;
}

async function putOne(
  plan: Plan,
  { ledger, importer }: ImportOptions,
  { no }: Opened,
  block: number,
): Promise<Put> {
  const [bytes, claims] = [plan.blocks[block], plan.referenceWrites[block]];
  if (bytes === undefined || claims === undefined) throw new Error(`the plan has no block ${block}`);
  for (;;) {
    const put = await putBlock(ledger, { no, importer, block }, bytes, claims);
    if (put === 'ok' || put === 'not-importer') return put;
    for (const conflict of put) await refuseConflict(ledger, bytes, block, conflict);
    // Where none of them is spent any more, the block is tried again.
    await refuseSpent(plan, ledger);
  }
}

/** What no new look at the references would mend. */
async function refuseConflict(
  ledger: RealmLedger,
  bytes: Buffer,
  block: number,
  conflict: BlockConflict,
): Promise<void> {
  if (conflict.kind !== 'reference') {
    const order = orderId((await batchRef(ledger, conflict.no)).id, conflict.index);
    const { code, message } = await denial(ledger, conflict.kind, order, conflict.why);
    const line = decodePlanBlock(bytes)[conflict.row - block * PLAN_BLOCK_ROWS - 1]?.line;
    throw new AlmonerError(code, `Line ${line}: ${message} Nothing was imported.`);
  }
  if (!conflict.importing) return;
  const holder = orderId((await batchRef(ledger, conflict.holder.no)).id, conflict.holder.index);
  throw new AlmonerError(
    'ALM_PLAN_REFERENCE_BUSY',
    `Order ${holder} of an import that has not finished holds a reference of this file. Nothing was imported.`,
  );
}

/** The other importer finishes the very same batch. */
async function waitForSeal(ref: BatchRef): Promise<Imported> {
  for (let waited = 0; waited < TAKE_OVER_WAIT_MS; waited += POLL_MS) {
    const state = await importState(ref);
    if (state === null)
      throw new AlmonerError(
        'ALM_PLAN_REFERENCE_BUSY',
        `Batch ${ref.id} is not there any more: it was cancelled while it was being imported, or the store was put back to an earlier time. Nothing of it was sent.`,
        { next: 'Import the file again if it is still meant.' },
      );
    if (state === 'sealed') return { ref, existing: true };
    await sleep(POLL_MS);
  }
  throw new AlmonerError(
    'ALM_PLAN_REFERENCE_BUSY',
    `Another process imports the same orders (batch ${ref.id}) and has not finished. Nothing was sent.`,
  );
}

const TAKE_OVER_WAIT_MS = 120_000;
const POLL_MS = 100;

function manifestOf(plan: Plan, options: ImportOptions, batch: BatchId): Manifest {
  const { profile } = options;
  const { totals, sheet, content } = plan;
  return {
    batch,
    realm: profile.name,
    realmId: profile.realmId,
    baseUrl: profile.baseUrl,
    rehearsal: profile.rehearsal,
    certainty: profile.certainty,
    currency: profile.currency,
    keyLifetimeMs: profile.keyLifetimeMs,
    source: plan.source,
    delimiter: sheet?.delimiter ?? ',',
    header: sheet?.header ?? [],
    rows: totals.rows,
    orders: totals.orders,
    tokens: totals.tokens,
    members: totals.members,
    duplicates: toPay(plan).duplicates,
    invalid: totals.invalid,
    sha256: content ?? '',
    fileSha256: plan.fileSha256,
    table: sealedTable(plan),
    again: plan.again,
    inOrder: options.inOrder,
    sliceMs: sliceMsOf(options.expectedMs, totals.rows),
    mode: options.mode,
    createdAt: options.now,
    createdBy: options.who,
  };
}

function countersOf(plan: Plan): SealedCounts {
  const { payable, payableTokens, duplicates } = toPay(plan);
  return {
    planned: { count: payable, tokens: absoluteOf(payableTokens) },
    duplicate: {
      count: duplicates,
      tokens: absoluteOf(plus(plan.totals.duplicateTokens, plan.spent.tokens)),
    },
    invalid: { count: plan.totals.invalid, tokens: 0n },
  };
}
