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
import type { Almoner, Because } from './almoner.js';
import { explainedToPrograms } from './explain.js';
import type { CheckOptions, EnqueueOptions, Input, PayOptions, PlanOptions } from './given.js';
import { PlanRefused } from './plan-refused.js';
import { OPTIONS, readBatch, readInput, readMember, readOptions, readOrders } from './read-given.js';
import { foundTold, planTold, resultsTold, Watching } from './tell.js';
import type { BatchStatus, DeadLetter, Plan, ResultRow, Steered } from './told.js';

/** The library's face over the operations: reads what a program gave, calls one of them, and tells plain values. */
export class Library implements Almoner {
  private readonly underWay = new Set<Promise<unknown>>();
  private closing: Promise<void> | null = null;
  /** The store did not answer while it was closing. */
  private cutOff = false;

  constructor(
    private readonly app: App,
    private readonly realmName: string | undefined,
    private readonly cwd: string,
  ) {}

  plan(input: Input, options: CheckOptions = {}): Promise<Plan> {
    return this.doing(async () => {
      const { check = false, ...choices } = readOptions(OPTIONS.plan, options);
      const request = readInput(input, choices, this.cwd);
      const profile = this.profile();
      const planned = await planFile(this.app.realmContext(profile), request, Date.now(), this.app);
      try {
        if (check && planned.plan.findings.faultCount === 0)
          await checkMembers(await this.app.realm(profile), planned.plan, () => this.refuseClosing());
        return await planTold(planned, profile, request);
      } finally {
        planned.plan.findings.close();
      }
    });
  }

  pay(input: Input, options: PayOptions = {}): Promise<BatchStatus> {
    return this.doing(async () => {
      const given = readOptions(OPTIONS.pay, options);
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

  enqueue(input: Input, options: EnqueueOptions = {}): Promise<BatchStatus> {
    return this.doing(async () => {
      const given = readOptions(OPTIONS.enqueue, options);
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

  batches(options: Parameters<Almoner['batches']>[0] = {}): AsyncIterable<BatchStatus> {
    return this.each(async () => {
      const { state, since } = readOptions(OPTIONS.batches, options);
      return this.statuses({ realm: this.realmName, state, sinceMs: since?.getTime() });
    });
  }

  private async *statuses(filter: BatchFilter): AsyncGenerator<BatchStatus> {
    for await (const { ref } of batchesMade(this.app, filter)) yield await batchStatus(ref, this.app.config);
  }

  results(batch: string): AsyncIterable<ResultRow> {
    return this.each(async () => {
      const ref = await this.named(batch);
      return resultsTold(await reading.snapshots.batch(ref, new reading.PlanReader(ref.ledger), []));
    });
  }

  report(batch: string, options: Parameters<Almoner['report']>[1] = {}) {
    return this.doing(async () => {
      const given = readOptions(OPTIONS.report, options);
      const out = given.out === undefined ? undefined : resolve(this.cwd, given.out);
      const ref = await this.named(batch);
      const wish = { out, public: given.public ?? false };
      return reportBatch(ref, this.app.config, wish);
    });
  }

  pause(batch: string, because: Because = {}): Promise<Steered> {
    return this.steer(batch, because, (ref, by) => pause(this.app.config, ref, by));
  }

  resume(batch: string, options: Parameters<Almoner['resume']>[1] = {}): Promise<Steered> {
    return this.doing(async () => {
      const { reason: why = null, now = false } = readOptions(OPTIONS.resume, options);
      const ref = await this.named(batch);
      return {
        batch: ref.id,
        ...(await resume(this.app, ref, { who: await nameOf(this.app), why }, { now })),
      };
    });
  }

  cancel(batch: string, because: Because = {}): Promise<Steered> {
    return this.steer(batch, because, async (ref, by) =>
      (await cancelImport(ref, by)) === null
        ? cancel(this.app.config, ref, by)
        : { changed: true, status: null },
    );
  }

  deadLetters(options: { readonly batch?: string | undefined } = {}): AsyncIterable<DeadLetter> {
    return this.letters(options, {});
  }

  doubts(options: { readonly batch?: string | undefined } = {}): AsyncIterable<DeadLetter> {
    return this.letters(options, { state: 'doubt' });
  }

  resolveDoubts(orders: readonly string[], verdict: Parameters<Almoner['resolveDoubts']>[1]) {
    return this.doing(async () => {
      const { scripts } = this.app;
      const ids = readOrders(orders);
      const { paid, reason, evenIfItMayArrive = false } = readOptions(OPTIONS.verdict, verdict);
      const said = paid ? 'paid' : 'unpaid';
      const rulings = await checkRulings(await rulingsOnOrders(scripts, ids, said, this.realmName));
      const arriving = evenIfItMayArrive ? [] : await mayArrive(this.app, rulings);
      if (arriving.length > 0) throw arrivingError(arriving);
      return resolveDoubts(this.app, rulings, { who: await nameOf(this.app), why: reason.trim() });
    });
  }

  history(member: string, options: { readonly since?: Date | undefined } = {}) {
    return this.doing(() => {
      const since = readOptions(OPTIONS.history, options).since?.getTime() ?? null;
      const wish = { realm: this.realmName, since, onScanned: () => {} };
      return memberHistory(this.app.scripts, readMember(member), wish);
    });
  }

  find(text: string, options: Parameters<Almoner['find']>[1] = {}): ReturnType<Almoner['find']> {
    return this.each(async () => {
      const given = readOptions(OPTIONS.find, { ...options, text });
      return foundTold(await Find.open(this.app.scripts, given.text, { ...given, realm: this.realmName }));
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
   * Who is being paid sees that it is closing and pauses; everything else comes to its end by itself. A store that is
   * gone, or takes no writes, must not keep the program for ever: what waits for it is cut off, and the journals know
   * what was sent.
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

  private async planned<T>(
    input: Input,
    options: PlanOptions,
    use: (realm: OpenRealm, planned: Planned) => Promise<T>,
  ): Promise<T> {
    const request = { ...readInput(input, options, this.cwd), unattended: true };
    const { realm, planned } = await planToPay(this.app, this.profile(), request);
    try {
      if (planned.plan.findings.faultCount > 0) {
        const plan = await planTold(planned, realm.profile, request);
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
    because: Because,
    move: (ref: BatchRef, by: SteeredBy) => Promise<Omit<Steered, 'batch'>>,
  ): Promise<Steered> {
    return this.doing(async () => {
      const { reason: why = null } = readOptions(OPTIONS.steer, because);
      const ref = await this.named(batch);
      return { batch: ref.id, ...(await move(ref, { who: await nameOf(this.app), why })) };
    });
  }

  private letters(options: unknown, filter: Pick<DeadFilter, 'state'>): AsyncIterable<DeadLetter> {
    return this.each(async () => {
      const { batch } = readOptions(OPTIONS.letters, options);
      return deadLetters(this.app.scripts, { ...filter, batch, realm: this.realmName });
    });
  }

  private named(batch: string): Promise<BatchRef> {
    return findBatch(this.app.scripts, readBatch(batch), this.realmName);
  }

  private profile() {
    return pickProfile(this.app.config, this.realmName);
  }

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

  /** Closing waits for it. */
  private aside(work: Promise<unknown>): void {
    const ended = work.then(
      () => {},
      () => {},
    );
    this.underWay.add(ended);
    void ended.then(() => this.underWay.delete(ended));
  }

  /** A list that is read as it is asked for; closing does not wait for a reader who has left. */
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

  /** Reading thousands of members at a slow pace takes hours. */
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
