import { AlmonerError, messageOf } from '../core/errors/error.js';
import type { RealmProfile } from '../core/profile.js';
import { rowOfLine } from '../csv/program-rows.js';
import type { Finding as FileFinding } from '../csv/row.js';
import type { BatchRecord } from '../ledger/index.js';
import { batchProgress } from '../operations/batches/batch-status.js';
import { type Find, type FoundBatches, type FoundOrders, foundOrder } from '../operations/orders/find.js';
import { resultRow } from '../operations/orders/order-row.js';
import { type Planned, type PlanRequest, planView } from '../operations/pay/plan-file.js';
import type { Watch } from '../operations/pay/run-batch.js';
import { inOwnWords } from './explain.js';
import type { PayOptions } from './option-types.js';
import type { BatchStatus, Finding, Found, Plan, ResultRow } from './output-types.js';

/** The document of `plan --json`. For rows, each finding names its row. */
export async function planOutput(
  planned: Planned,
  profile: RealmProfile,
  request: PlanRequest,
): Promise<Plan> {
  const document = await planView(planned, profile);
  const found = (finding: FileFinding): Finding => ({
    ...finding,
    message: inOwnWords(finding.message),
    row: 'rows' in request ? rowOfLine(finding.line) : null,
  });
  return { ...document, faults: document.faults.map(found), warnings: document.warnings.map(found) };
}

/** The rows of results.csv as values. */
export async function* resultRows({ batch, rows }: BatchRecord): AsyncGenerator<ResultRow> {
  for await (const row of rows) yield resultRow(batch.manifest, row);
}

/** Searches while the caller iterates. An archive that could not be read is reported at the end. */
export async function* findResults(find: Find): AsyncGenerator<Found> {
  for (let at: FoundBatches['next'] | undefined; at !== null; ) {
    const page = await find.batches({
      from: at ?? null,
      limit: FIND_PAGE,
      untilMs: performance.now() + FIND_LOOK_MS,
    });
    yield* page.found;
    at = page.next;
  }
  const unsearched: string[] = [];
  let from: FoundOrders['next'] = null;
  do {
    const untilMs = performance.now() + FIND_LOOK_MS;
    const page: FoundOrders = await find.orders({ from, limit: FIND_PAGE, untilMs });
    yield* page.found.map(foundOrder);
    unsearched.push(...page.unsearched.map(({ message }) => message));
    from = page.next;
  } while (from !== null);
  if (unsearched.length > 0)
    throw new AlmonerError(
      'ALM_LEDGER_ARCHIVE_MISSING',
      `Not everything was searched. ${unsearched.join(' ')}`,
    );
}

const FIND_PAGE = 200;
const FIND_LOOK_MS = 500;

/** Follows a payment for the program: its progress, its abort signal, and the closing of the library. */
export class Watching {
  private failed: { readonly error: unknown } | null = null;

  constructor(
    private readonly options: Pick<PayOptions, 'signal' | 'onProgress'>,
    private readonly isClosing: () => boolean,
  ) {}

  get aborted(): boolean {
    return this.failed !== null || this.options.signal?.aborted === true || this.isClosing();
  }

  readonly watch: Watch = {
    stop: this,
    onProgress: (view, _, waiting) => {
      if (this.failed !== null) return;
      try {
        // An async `onProgress` returns a promise. The payment does not wait for it; a rejection counts when it
        // arrives.
        const answer: unknown = this.options.onProgress?.(batchProgress(view, waiting));
        Promise.resolve(answer).catch((error: unknown) => this.fail(error));
      } catch (error) {
        this.fail(error);
      }
    },
  };

  /** Pauses the batch after `onProgress` failed, as after an interruption. */
  private fail(error: unknown): void {
    this.failed ??= { error };
  }

  /** Throws where the program stopped the payment before its batch was made. */
  refuseStopped(): void {
    if (!this.aborted) return;
    throw new AlmonerError(
      'ALM_LIBRARY_STOPPED',
      'It was stopped before the batch was made. Nothing was enqueued and nothing was sent.',
    );
  }

  /** Throws where `onProgress` failed during the payment. */
  refuseFailed({ batch, state }: Pick<BatchStatus, 'batch' | 'state'>): void {
    if (this.failed === null) return;
    const { error } = this.failed;
    throw new AlmonerError(
      'ALM_LIBRARY_USAGE',
      `onProgress has failed (${messageOf(error)}). What was being sent has finished; batch ${batch} is ${state}.`,
      { cause: error },
    );
  }
}
