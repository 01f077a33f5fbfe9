import { setTimeout as sleep } from 'node:timers/promises';
import { counted } from '../core/counted.js';
import { AlmonerError, isAlmonerError } from '../core/errors/error.js';
import { type BatchId, orderId } from '../core/ids.js';
import { absoluteOf, plus } from '../core/op-sums.js';
import { stoppedBy } from '../core/paid-before.js';
import type { RealmProfile } from '../core/profile.js';
import { columnsWords, findingWords } from '../csv/column-words.js';
import {
  type AuditEntry,
  type BatchRef,
  batchRef,
  type Manifest,
  PLAN_BLOCK_ROWS,
  planning,
  type RealmLedger,
  registerRealm,
} from '../ledger/index.js';
import { refuseChanged, refuseOtherName, refuseSpent } from './paid-before/before-seal.js';
import { denial } from './paid-before/judge-earlier.js';
import { closedError, passPlaces, whyPlaces } from './paid-before/other-ledger.js';
import { type Plan, sealedTable, toPay } from './plan.js';
import { sliceMsOf } from './preview.js';

/**
 * Puts a plan into the ledger: blocks first, each with its references and marks, then the seal. Two
 * importers of the same orders meet at the same batch: one writes, the other finds it sealed or takes over
 * what the first left unfinished.
 */
export type ImportOptions = Putting & {
  readonly profile: RealmProfile;
  readonly batchId: BatchId | null;
  readonly mode: 'run' | 'import';
  /** The session that works a run; empty for the workers. */
  readonly owner: string;
  readonly inOrder: boolean;
  /** How long the whole batch is expected to take; the chart of the run is sliced by it. */
  readonly expectedMs: number;
  readonly who: string;
  readonly prepared: planning.Prepared;
  readonly now: number;
  /** The run of a rule that the orders come from. */
  readonly run?: planning.SealedRun | null;
  /**
   * Before every try to seal: whoever is to work the batch stands in the registry, and a store that was restarted
   * meanwhile is merged. Answers whether orders may be sent.
   */
  readonly join?: () => Promise<boolean>;
};

export type Imported = { readonly ref: BatchRef; readonly existing: boolean };

export async function importPlan(plan: Plan, options: ImportOptions): Promise<Imported> {
  const { ledger } = options;
  if (plan.content === null || plan.batch === null || plan.sheet === null)
    throw new Error('only a whole plan can be imported');
  await registerRealm(ledger);
  const wanted = {
    content: plan.content,
    id: options.batchId ?? plan.batch,
    importer: options.importer,
    createdAt: options.now,
  };
  let opened = await planning.imports.open(ledger, wanted);
  // A dead import of other orders does not keep the name.
  if (
    opened.status === 'id-taken' &&
    (await planning.imports.takeBackDead({ ledger, no: opened.no, id: opened.id }))
  )
    opened = await planning.imports.open(ledger, wanted);
  const ref = { ledger, no: opened.no, id: opened.id };
  if (opened.status === 'sealed') return { ref, existing: true };
  if (opened.status === 'id-taken')
    throw new AlmonerError(
      'ALM_BATCH_ID_TAKEN',
      `The id ${opened.id} belongs to a batch of other orders. Nothing was imported.`,
    );

  const takeBack = () =>
    planning.imports.drop(ledger, { no: ref.no, importer: options.importer }, plan.blocks.length, (block) =>
      Promise.resolve(plan.referenceWrites[block] ?? planning.blocks.noClaims),
    );
  const sealed = await store(plan, options, ref).catch(async (error: unknown) => {
    // A refusal takes everything back; a store that went away is left as it is, and importing again goes on.
    if (isAlmonerError(error) && error.code !== 'ALM_STORE_UNREACHABLE') await takeBack();
    throw error;
  });
  if (sealed === 'not-importer') {
    // Of a recovered batch that was cancelled meanwhile; where another has taken over, this drops nothing.
    await takeBack();
    return waitForSeal(ref);
  }
  if (sealed === 'incomplete')
    throw new AlmonerError(
      'ALM_LEDGER_PLAN_MISSING',
      `The store has forgotten a part of batch ${opened.id} while it was imported. Nothing was sealed and nothing was sent.`,
      { next: 'Give the command again: it stores the whole plan anew. Find out why the store lost writes.' },
    );
  return { ref, existing: sealed === 'already' };
}

/** What a person said with the file: that it is meant again, or that its place is. */
export function whySealed(plan: Plan): string | null {
  const { again } = plan;
  const whys = [...(again === null ? [] : [`again: ${again}`]), ...whyPlaces(plan)];
  return whys.length === 0 ? null : whys.join('; ');
}

async function store(
  plan: Plan,
  options: ImportOptions,
  opened: BatchRef,
): Promise<'sealed' | 'already' | 'not-importer' | 'incomplete'> {
  const { ledger, importer, owner } = options;
  // Planned as a batch that the books have already, it was compared with nothing.
  if (!plan.compares)
    throw new AlmonerError(
      'ALM_LEDGER_PLAN_MISSING',
      `The store has forgotten batch ${opened.id} since this was planned. Nothing was enqueued and nothing was sent.`,
      { next: 'Give the command again: everything is judged anew. Find out why the store lost writes.' },
    );
  plan.bare.own = opened.id;
  if ((await putBlocks(plan, options, opened)) === 'not-importer') return 'not-importer';
  const manifest = manifestOf(plan, options, opened.id);
  const what = `${options.mode} of ${plan.source}: ${counted(manifest.rows, 'row')}`;
  const audit: AuditEntry = { at: options.now, who: options.who, what, why: whySealed(plan) };
  for (;;) {
    const armed = (await options.join?.()) ?? false;
    const judged = await planning.earlier.judgedAt(ledger);
    refuseOtherName(plan, opened.id);
    await refuseChanged(plan, ledger, opened.no, options.now);
    await passPlaces(ledger, plan, { who: options.who, at: options.now });
    const { run = null } = options;
    const recovered = plan.takenOver?.indexes.size ?? 0;
    const given = { sketch: plan.sketch, judged, run, recovered, prepared: options.prepared };
    const at = { no: opened.no, importer, owner };
    const sealed = await planning.imports.seal(
      ledger,
      at,
      { manifest, counts: countersOf(plan), audit },
      given,
    );
    // Another batch was sealed since or an order retried, perhaps of the same rows, a loss was accepted, or another
    // address announced itself: after a pause of its own, because two that go on in step would stop each other again.
    if (sealed === 'moved') await sleep(Math.random() * MOVED_PAUSE_MS);
    // `disarmed`: restarted once more since it was merged.
    if (sealed === 'moved' || (sealed === 'disarmed' && armed)) continue;
    if (sealed === 'disarmed') throw await closedError(ledger);
    if (sealed === 'sending')
      throw new AlmonerError(
        'ALM_BATCH_CANNOT',
        `An order of batch ${opened.id} that a journal knew is being sent at this moment. Nothing was enqueued.`,
        { next: 'Give the command again in a minute.' },
      );
    if (sealed === 'nameless' || sealed === 'noted')
      throw new AlmonerError(NOT_SEALED[sealed].code, `${NOT_SEALED[sealed].why} Nothing was enqueued.`);
    if (typeof sealed === 'object')
      throw new AlmonerError(
        'ALM_RULE_OVER_LIMIT',
        `${plan.source}: ${planning.accounts.overLimitText(sealed)}. Nothing was enqueued.`,
      );
    return sealed;
  }
}

const NOT_SEALED = {
  nameless: {
    code: 'ALM_PEOPLE_NAMELESS',
    why: 'This realm requires approvals, so the person who prepares a batch has to be known by a token.',
  },
  noted: {
    code: 'ALM_RULE_ALREADY_RUN',
    why: 'Another process has dealt with this time of the schedule, the store has not reached it, or a person has held it back.',
  },
} as const;

const MOVED_PAUSE_MS = 50;

/** The other importer finishes the very same batch. */
async function waitForSeal(ref: BatchRef): Promise<Imported> {
  for (let waited = 0; waited < TAKE_OVER_WAIT_MS; waited += POLL_MS) {
    const state = await planning.imports.state(ref);
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

/** An approver is shown so many of them. */
const WARNINGS_SEALED = 20;

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
    currency: plan.currency,
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
    columns: plan.found && columnsWords(plan.found),
    warnings: {
      count: plan.findings.warningCount,
      first: plan.findings.warnings(WARNINGS_SEALED).map((one) => findingWords(one)),
    },
    inOrder: options.inOrder,
    sliceMs: sliceMsOf(options.expectedMs, totals.rows),
    mode: options.mode,
    createdAt: options.now,
    createdBy: options.who,
  };
}

function countersOf(plan: Plan): Parameters<typeof planning.imports.seal>[2]['counts'] {
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

/** Puts under way at once: the store's fsync is shared, and its answer is not waited for row by row. */
const PUTS_AT_ONCE = 16;

export type Putting = {
  readonly ledger: RealmLedger;
  readonly importer: string;
  readonly onProgress: (rows: number) => void;
};

type Put = 'ok' | 'not-importer';

/** Stores every block of the plan, each with its references and marks. */
export async function putBlocks(plan: Plan, options: Putting, { no }: Pick<BatchRef, 'no'>): Promise<Put> {
  const imports = new OtherImports(options.ledger);
  let [next, stored] = [0, 0];
  let end: Put = 'ok';
  const putSome = async () => {
    while (next < plan.blocks.length && end === 'ok') {
      const block = { no, importer: options.importer, block: next++ };
      if ((await putOne(plan, options.ledger, imports, block)) === 'not-importer') end = 'not-importer';
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
  ledger: RealmLedger,
  imports: OtherImports,
  put: { readonly no: string; readonly importer: string; readonly block: number },
): Promise<Put> {
  const { block } = put;
  const [bytes, claims] = [plan.blocks[block], plan.referenceWrites[block]];
  if (bytes === undefined || claims === undefined) throw new Error(`the plan has no block ${block}`);
  for (;;) {
    const answer = await planning.blocks.put(ledger, put, bytes, claims);
    if (answer === 'ok' || answer === 'not-importer') return answer;
    for (const conflict of answer) await refuseConflict(ledger, imports, { bytes, block }, conflict);
    // Where none of them is spent any more, the block is tried again.
    await refuseSpent(plan, ledger);
  }
}

type Conflict = Exclude<Awaited<ReturnType<typeof planning.blocks.put>>, string>[number];

/** What no new look at the references would mend. */
async function refuseConflict(
  ledger: RealmLedger,
  imports: OtherImports,
  { bytes, block }: { readonly bytes: Buffer; readonly block: number },
  conflict: Conflict,
): Promise<void> {
  if (conflict.kind !== 'reference') {
    const order = orderId((await batchRef(ledger, conflict.no)).id, conflict.index);
    const against = await denial(ledger, conflict.kind, order, conflict.why);
    const line = planning.blocks.decode(bytes)[conflict.row - block * PLAN_BLOCK_ROWS - 1]?.line;
    throw stoppedBy({ ...against, message: `Line ${line}: ${against.message}` }, NOT_IMPORTED);
  }
  if (!conflict.importing || (await imports.isTakenBack(conflict.holder.no))) return;
  const ref = await batchRef(ledger, conflict.holder.no);
  const holder = orderId(ref.id, conflict.holder.index);
  const message = `Order ${holder} of an import that has not finished holds a reference of this file.`;
  throw stoppedBy({ code: 'ALM_PLAN_REFERENCE_BUSY', message }, NOT_IMPORTED);
}

const NOT_IMPORTED = 'Nothing was imported.';

/** Imports that hold references of this one. */
class OtherImports {
  private readonly met = new Map<string, Promise<boolean>>();

  constructor(private readonly ledger: RealmLedger) {}

  /** Taken back, once for all blocks, where its process is dead: whoever meant its file imports it again. */
  isTakenBack(no: string): Promise<boolean> {
    const known = this.met.get(no) ?? this.takeBack(no);
    this.met.set(no, known);
    return known;
  }

  private async takeBack(no: string): Promise<boolean> {
    return planning.imports.takeBackDead(await batchRef(this.ledger, no));
  }
}
