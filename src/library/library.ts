import { resolve } from 'node:path';
import { AlmonerError, isAlmonerError } from '../core/errors/error.js';
import { type BatchRef, findBatch, reading } from '../ledger/index.js';
import { type BatchFilter, batchesMade, batchStatus } from '../operations/batches/batch-status.js';
import { reportBatch } from '../operations/batches/report.js';
import { cancel, cancelImport, pause, resume, type SteeredBy } from '../operations/batches/steer.js';
import { arrivingError, checkRulings, mayArrive, resolveDoubts } from '../operations/doubts/resolve.js';
import { rulingsOnOrders } from '../operations/doubts/rulings.js';
import { type DeadFilter, deadLetters } from '../operations/orders/dead-letters.js';
import { Find } from '../operations/orders/find.js';
import { memberHistory } from '../operations/orders/member-history.js';
import { checkMembers } from '../operations/pay/check-members.js';
import { type Planned, planFile, planToPay, refusalOf } from '../operations/pay/plan-file.js';
import { payPlan } from '../operations/pay/run-batch.js';
import { importBatch } from '../operations/pay/store-batch.js';
import { nameOf } from '../operations/people/audit.js';
import { archiveInPassing } from '../operations/services/archive.js';
import type { App, OpenRealm } from '../runtime/app.js';
import { pickProfile } from '../runtime/config/config.js';
import { stopDeadlineMs } from '../runtime/stop-signals.js';
import type { Almoner } from './almoner.js';
import { explainedToPrograms } from './explain.js';
import type { Input } from './input-types.js';
import type * as call from './option-types.js';
import type { BatchStatus, OrderRow, Plan, ResultRow, Steered } from './output-types.js';
import { findResults, planOutput, resultRows, Watching } from './outputs.js';
import * as parse from './parse-input.js';
import { PlanRefused } from './plan-refused.js';

/** The library over the operations. It reads a program's arguments, calls one operation and returns plain values. */
export class Library implements Almoner {
  private readonly underWay = new Set<Promise<unknown>>();
  private closing: Promise<void> | null = null;
  /** True once closing gave up on a store that did not answer. */
  private cutOff = false;

  constructor(
    private readonly app: App,
    private readonly realmName: string | undefined,
    private readonly cwd: string,
  ) {}

  plan(input: Input, options: call.CheckOptions = {}): Promise<Plan> {
    return this.doing(async () => {
      const { check = false, ...choices } = parse.readOptions(parse.CheckOptions, options);
      const request = parse.readInput(input, choices, this.cwd);
      const profile = this.profile();
      const planned = await planFile(this.app.realmContext(profile), request, Date.now(), this.app);
      try {
        if (check && planned.plan.findings.faultCount === 0)
          await checkMembers(await this.app.realm(profile), planned.plan, () => this.refuseClosing());
        return await planOutput(planned, profile, request);
      } finally {
        planned.plan.findings.close();
      }
    });
  }

  pay(input: Input, options: call.PayOptions = {}): Promise<BatchStatus> {
    return this.doing(async () => {
      const given = parse.readOptions(parse.PayOptions, options);
      const { batchId = null, first = null, inOrder = false, report: reports = false } = given;
      const watching = new Watching(given, () => this.closing !== null);
      const status = await this.planned(input, given, (realm, planned) => {
        watching.refuseStopped();
        return payPlan(this.app.patient(Number.POSITIVE_INFINITY), realm, planned, {
          ...{ batchId, first, inOrder, reports },
          ...watching.watch,
        });
      });
      this.aside(archiveInPassing(this.app));
      watching.refuseFailed(status);
      return status;
    });
  }

  enqueue(input: Input, options: call.EnqueueOptions = {}): Promise<BatchStatus> {
    return this.doing(async () => {
      const given = parse.readOptions(parse.EnqueueOptions, options);
      const { batchId = null, inOrder = false } = given;
      return this.planned(input, given, async (realm, planned) => {
        const { ref, existing } = await importBatch(this.app, realm, planned, { batchId, inOrder });
        return batchStatus(ref, this.app.config, { existing });
      });
    });
  }

  status(batch: string): Promise<BatchStatus> {
    return this.doing(async () => batchStatus(await this.named(batch), this.app.config));
  }

  batches(options: call.BatchesOptions = {}): AsyncIterable<BatchStatus> {
    return this.each(async () => {
      const { state, since } = parse.readOptions(parse.BatchesOptions, options);
      return this.statuses({ realm: this.realmName, state, sinceMs: since?.getTime() });
    });
  }

  private async *statuses(filter: BatchFilter): AsyncGenerator<BatchStatus> {
    for await (const { ref } of batchesMade(this.app, filter)) yield await batchStatus(ref, this.app.config);
  }

  results(batch: string): AsyncIterable<ResultRow> {
    return this.each(async () => {
      const ref = await this.named(batch);
      return resultRows(await reading.snapshots.batch(ref, new reading.PlanReader(ref.ledger), []));
    });
  }

  report(batch: string, options: call.ReportOptions = {}) {
    return this.doing(async () => {
      const given = parse.readOptions(parse.ReportOptions, options);
      const out = given.out === undefined ? undefined : resolve(this.cwd, given.out);
      const ref = await this.named(batch);
      const wish = { out, public: given.public ?? false };
      return reportBatch(ref, this.app.config, wish);
    });
  }

  pause(batch: string, because: call.Because = {}): Promise<Steered> {
    return this.steer(batch, because, (ref, by) => pause(this.app.config, ref, by));
  }

  resume(batch: string, options: call.ResumeOptions = {}): Promise<Steered> {
    return this.doing(async () => {
      const { reason: why = null, now = false } = parse.readOptions(parse.ResumeOptions, options);
      const ref = await this.named(batch);
      return {
        batch: ref.id,
        ...(await resume(this.app, ref, { who: await nameOf(this.app), why }, { now })),
      };
    });
  }

  cancel(batch: string, because: call.Because = {}): Promise<Steered> {
    return this.steer(batch, because, async (ref, by) =>
      (await cancelImport(ref, by)) === null
        ? cancel(this.app.config, ref, by)
        : { changed: true, status: null },
    );
  }

  deadLetters(options: call.LettersOptions = {}): AsyncIterable<OrderRow> {
    return this.letters(options, {});
  }

  doubts(options: call.LettersOptions = {}): AsyncIterable<OrderRow> {
    return this.letters(options, { state: 'doubt' });
  }

  resolveDoubts(orders: readonly string[], verdict: call.Verdict) {
    return this.doing(async () => {
      const { scripts } = this.app;
      const ids = parse.readOrders(orders);
      const { paid, reason, evenIfItMayArrive = false } = parse.readOptions(parse.Verdict, verdict);
      const said = paid ? 'paid' : 'unpaid';
      const rulings = await checkRulings(await rulingsOnOrders(scripts, ids, said, this.realmName));
      const arriving = evenIfItMayArrive ? [] : await mayArrive(this.app, rulings);
      if (arriving.length > 0) throw arrivingError(arriving);
      return resolveDoubts(this.app, rulings, { who: await nameOf(this.app), why: reason.trim() });
    });
  }

  history(member: string, options: call.HistoryOptions = {}) {
    return this.doing(() => {
      const since = parse.readOptions(parse.HistoryOptions, options).since?.getTime() ?? null;
      const wish = { realm: this.realmName, since, onScanned: () => {} };
      return memberHistory(this.app.scripts, parse.readMember(member), wish);
    });
  }

  find(text: string, options: call.FindOptions = {}): ReturnType<Almoner['find']> {
    return this.each(async () => {
      const { by } = parse.readOptions(parse.FindOptions, { ...options });
      return findResults(Find.open(this.app.scripts, parse.readText(text), { by, realm: this.realmName }));
    });
  }

  close(): Promise<void> {
    this.closing ??= this.end().catch((error: unknown) => {
      throw explainedToPrograms(error);
    });
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Ends all calls. A payment sees the closing and pauses; other calls end by themselves. A store that does not
   * answer, or takes no writes, must not keep the program running: calls that wait for it are cut off, and the
   * journals hold what was sent.
   */
  private async end(): Promise<void> {
    const late = setInterval(() => void this.leaveAwayStore(), stopDeadlineMs(this.app.config));
    while (this.underWay.size > 0) await Promise.all(this.underWay);
    clearInterval(late);
    await this.app.close();
  }

  private async leaveAwayStore(): Promise<void> {
    if (await this.app.scripts.answers()) return;
    this.cutOff = true;
    this.app.giveUpStore();
  }

  /** Plans the input and passes the plan on. Throws `PlanRefused` where it has faults. */
  private async planned<T>(
    input: Input,
    options: call.PlanOptions,
    use: (realm: OpenRealm, planned: Planned) => Promise<T>,
  ): Promise<T> {
    const request = { ...parse.readInput(input, options, this.cwd), unattended: true };
    const { realm, planned } = await planToPay(this.app, this.profile(), request);
    try {
      if (planned.plan.findings.faultCount > 0) {
        const plan = await planOutput(planned, realm.profile, request);
        const { code, message } = refusalOf(plan);
        throw new PlanRefused(code, message, plan);
      }
      return await use(realm, planned);
    } finally {
      planned.plan.findings.close();
    }
  }

  private steer(
    batch: string,
    because: call.Because,
    move: (ref: BatchRef, by: SteeredBy) => Promise<Omit<Steered, 'batch'>>,
  ): Promise<Steered> {
    return this.doing(async () => {
      const { reason: why = null } = parse.readOptions(parse.Because, because);
      const ref = await this.named(batch);
      return { batch: ref.id, ...(await move(ref, { who: await nameOf(this.app), why })) };
    });
  }

  private letters(options: unknown, filter: Pick<DeadFilter, 'state'>): AsyncIterable<OrderRow> {
    return this.each(async () => {
      const { batch } = parse.readOptions(parse.LettersOptions, options);
      return deadLetters(this.app.scripts, { ...filter, batch, realm: this.realmName });
    });
  }

  private named(batch: string): Promise<BatchRef> {
    return findBatch(this.app.scripts, parse.readBatch(batch), this.realmName);
  }

  private profile() {
    return pickProfile(this.app.config, this.realmName);
  }

  /** Runs one call: refuses it after `close`, makes `close` wait for it, and words its errors for programs. */
  private async doing<T>(work: () => Promise<T>): Promise<T> {
    this.refuseClosed();
    try {
      const done = work();
      this.aside(done);
      return await done;
    } catch (error) {
      const isOfStore = !isAlmonerError(error) || error.code === 'ALM_STORE_UNREACHABLE';
      if (!this.cutOff || !isOfStore) throw explainedToPrograms(error);
      const message =
        'The store did not answer while almoner was closed. What was sent stands in the journal.';
      throw new AlmonerError('ALM_STORE_UNREACHABLE', message, { cause: error });
    }
  }

  /** Counts work that `close` waits for. */
  private aside(work: Promise<unknown>): void {
    const ended = work.then(
      () => {},
      () => {},
    );
    this.underWay.add(ended);
    void ended.then(() => this.underWay.delete(ended));
  }

  /** A list that is read while the caller iterates. `close` does not wait for a caller who stopped iterating. */
  private async *each<T>(list: () => Promise<AsyncIterable<T>>): AsyncGenerator<T, void, undefined> {
    this.refuseClosed();
    try {
      for await (const item of await list()) {
        yield item;
        this.refuseClosed();
      }
    } catch (error) {
      this.refuseClosed();
      throw explainedToPrograms(error);
    }
  }

  /** Ends a plan on close, because reading thousands of members at a slow pace takes hours. */
  private refuseClosing(): void {
    if (this.closing === null) return;
    throw new AlmonerError(
      'ALM_LIBRARY_STOPPED',
      'Almoner was closed while the members were read. Nothing was enqueued and nothing was sent.',
    );
  }

  private refuseClosed(): void {
    if (this.closing === null) return;
    throw new AlmonerError('ALM_LIBRARY_CLOSED', 'Almoner was closed before this call. Nothing was done.');
  }
}
