import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isAlmonerError, messageOf } from '../../core/errors/error.js';
import { newNonce, notes, recovery, storeNowMs } from '../../ledger/index.js';
import { Rounds } from '../../queue/rounds.js';
import { startScheduler } from '../../queue/schedules.js';
import {
  dealtWithUntil,
  type LastRun,
  lastRuns,
  noteWaiting,
  roundNotes,
  type ScheduledRule,
  scheduledRules,
  type WaitingRun,
  waitingRuns,
  whyWaiting,
} from '../../rules/approvals.js';
import { periodName } from '../../rules/calendar.js';
import type { PackedRule } from '../../rules/rule.js';
import { readRule } from '../../rules/rule-thread.js';
import type { RunMeta } from '../../rules/run-record.js';
import { listRuns } from '../../rules/run-store.js';
import { type Due, dueRuns } from '../../rules/schedule.js';
import { heldWords, missingApprovalWords } from '../../rules/schedule-health.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { deadManPing } from './dead-man.js';
import { type Became, lastOf, listWaited, noteTime } from './note-time.js';
import { planRule } from './plan.js';
import { makeBatchApart } from './run.js';
import { scheduleStandings } from './standings.js';
import { openRunOf, runToGoOnWith } from './unfinished-runs.js';

/** What became of a scheduled run. */
export type ScheduledRun = LastRun & { readonly realm: string; readonly rule: string };

export type SchedulesOptions = {
  readonly stop: AbortSignal;
  readonly onRun?: (run: ScheduledRun) => void;
  /** Handed in by tests, which move it; the store's otherwise, which is one for all machines. */
  readonly now?: () => number;
  readonly lookEveryMs?: number;
};

const CLAIM_MS = 120_000;
const LOOK_EVERY_MS = 30_000;
const OTHER_TEXT = 'Its file is not the text that has the go; nothing is paid by it.';

/**
 * Runs the approved rules of every configured realm at their times, until stopped: plans each due run and hands its
 * batch to the workers. Several at once are harmless. The dead-man URL is called after each good round.
 */
export async function startSchedules(
  app: App,
  options: SchedulesOptions,
): Promise<{ stop(): Promise<void> }> {
  const halt = new AbortController();
  const stop = AbortSignal.any([halt.signal, options.stop]);
  const trouble = (message: string) => app.logger.warn({ message }, 'schedules');
  const watches: RealmWatch[] = [];
  const wakers: { stop(): Promise<void> }[] = [];
  for (const profile of app.config.profiles) {
    const watch = new RealmWatch(app, await app.realm(profile), { ...options, stop });
    watches.push(watch);
    wakers.push(
      startScheduler({
        ledger: app.ledger(profile),
        connection: app.store.connect('schedules'),
        onWake: (rule) => watch.look(rule),
        onTrouble: (message) => trouble(`${profile.name}: ${message}`),
      }),
    );
  }
  const ping = deadManPing(app, stop);
  const rounds = new Rounds(trouble);
  rounds.every(options.lookEveryMs ?? LOOK_EVERY_MS, 'look for due rules', async () => {
    const looked = await Promise.allSettled(watches.map((watch) => watch.look(null)));
    for (const one of looked) if (one.status === 'rejected') throw one.reason;
    const standings = await scheduleStandings(app, options.now?.());
    const silent = standings.find(({ outcome }) => outcome === 'unserved');
    if (silent !== undefined) return trouble(`${silent.rule}: ${silent.message}`);
    await Promise.all(watches.map((watch) => watch.sign('good')));
    ping();
  });
  return {
    async stop() {
      halt.abort();
      await Promise.all(wakers.map((waker) => waker.stop()));
      await rounds.stop();
      await Promise.all(watches.map((watch) => watch.settled()));
    },
  };
}

/** The rules of one realm in one process; each rule is seen to by at most one of its calls at a time. */
class RealmWatch {
  private readonly busy = new Map<string, Promise<void>>();
  private readonly owner = newNonce();
  private isEmpty = true;

  constructor(
    private readonly app: App,
    private readonly realm: OpenRealm,
    private readonly options: SchedulesOptions,
  ) {}

  async look(rule: string | null): Promise<void> {
    const entries = await scheduledRules(this.realm.ledger);
    this.isEmpty = entries.length === 0;
    for (const entry of entries) {
      if (this.options.stop.aborted) return;
      if ((rule !== null && entry.rule !== rule) || this.busy.has(entry.rule)) continue;
      const work = this.see(entry)
        .catch((error: unknown) =>
          this.app.logger.warn({ rule: entry.rule, message: messageOf(error) }, 'schedule'),
        )
        .finally(() => this.busy.delete(entry.rule));
      this.busy.set(entry.rule, work);
    }
    if (rule === null) await this.sign('looked');
  }

  /** That somebody serves: whoever lists the rules tells by it whether a time was seen to. */
  async sign(what: 'looked' | 'good'): Promise<void> {
    if (!this.isEmpty) await roundNotes(this.realm.ledger).put(what, await this.now());
  }

  async settled(): Promise<void> {
    await Promise.all(this.busy.values());
  }

  private async see(entry: ScheduledRule): Promise<void> {
    const { ledger } = this.realm;
    const { run, newest } = await this.due(entry);
    if (run === null && newest === null) return;
    const claim = await notes.turns.claimRule(ledger, entry.rule, this.owner, CLAIM_MS);
    if (claim === undefined) return;
    const renewing = setInterval(() => void claim.renew().catch(() => {}), CLAIM_MS / 4);
    try {
      // Asked again under the claim: another scheduler may have seen to it meanwhile, or a person said something else.
      const now = (await scheduledRules(ledger)).find(({ rule }) => rule === entry.rule);
      if (now !== undefined) await this.deal(now, await this.due(now));
    } finally {
      clearInterval(renewing);
      await claim.release();
    }
  }

  /** Every time that has come gets its outcome here, or a word on what it waits for. */
  private async deal(entry: ScheduledRule, { run, newest }: Due): Promise<void> {
    const at = run ?? newest;
    if (at === null) return;
    const { approved, paused, skip } = entry;
    const done = async (became: Became, why?: string) =>
      this.note(entry, await this.lastOf(entry, at, became), why);
    if (approved === null) return this.wait(entry, { at, why: 'go', message: missingApprovalWords(entry) });
    const waited = (await waitingRuns(this.realm.ledger)).get(entry.rule);
    if (waited !== undefined && waited.at < at) await listWaited(this.realm.ledger, entry, waited);
    if (paused !== null) return done({ result: 'paused', message: heldWords('Paused', paused) });
    if (skip?.time === at) return done({ result: 'skipped', message: heldWords('Skipped', skip) });
    if (run !== null) return this.run(entry, run);
    // A time that was missed and is not made up for is still told.
    const why = waited?.at === at ? waited.message : undefined;
    const told = why === undefined ? 'Nobody was serving in time.' : `In time it could not be run: ${why}`;
    const message = `${told} A missed time of this rule is not made up for.`;
    return done({ result: 'missed', message }, why);
  }

  private async due(entry: ScheduledRule): Promise<Due> {
    const last = (await lastRuns(this.realm.ledger)).get(entry.rule) ?? null;
    const since = dealtWithUntil(entry, last);
    const now = await this.now();
    const due = dueRuns(entry, since, now);
    // A run that was begun in time is finished however late it is, whatever the rule says of missed ones.
    const begun = (await listRuns(this.realm.ledger)).find(
      ({ rule, ruleHash, scheduled, at, state }) =>
        rule === entry.rule &&
        ruleHash === entry.hash &&
        scheduled &&
        at > since &&
        at <= now &&
        (state === 'reading' || state === 'planned'),
    );
    return begun === undefined ? due : { ...due, run: begun.at };
  }

  private async run(entry: ScheduledRule, at: number): Promise<void> {
    const loaded = await this.load(entry);
    if (loaded === null) return this.wait(entry, { at, why: 'go', message: OTHER_TEXT });
    const became = (done: Became) => this.lastOf(entry, at, done);
    const failed = async (message: string) => this.note(entry, await became({ result: 'failed', message }));
    if (typeof loaded === 'string') return failed(loaded);
    try {
      await recovery.afterRollback.needResumed(this.realm.ledger);
      await this.wait(entry, { at, why: 'planning', message: 'Its run is being planned.' });
      await this.note(entry, await this.enqueue(loaded, at, became));
    } catch (error) {
      // Somebody else has noted it, or a person holds it back: the next look tells.
      if (isAlmonerError(error, 'ALM_RULE_ALREADY_RUN')) return;
      // What may pass by itself (a realm that is down, a stop) stays due and is tried again at the next look.
      if (!isAlmonerError(error) || error.exit === 5 || error.exit === 130) {
        const waits = { at, why: whyWaiting(error), message: messageOf(error) };
        if (!this.options.stop.aborted) await this.wait(entry, waits);
        throw error;
      }
      await failed(error.message);
    }
  }

  private async wait({ rule }: ScheduledRule, waits: Omit<WaitingRun, 'since'>): Promise<void> {
    const isNews = await noteWaiting(this.realm.ledger, rule, { ...waits, since: await this.now() });
    if (isNews) this.app.logger.info({ rule, ...waits }, 'scheduled run waits');
  }

  private async enqueue(
    loaded: PackedRule,
    at: number,
    became: (done: Became) => Promise<LastRun>,
  ): Promise<LastRun> {
    const { app, realm, options } = this;
    const { rule } = loaded;
    const period = periodName(rule.period, at, rule.zone);
    // The go is for one text, and each time has a run of its own. A run by hand is its person's to go on with, or to cancel.
    const whyNotMeant = (run: RunMeta) => {
      if (!run.scheduled || (run.ruleHash === rule.hash && run.at === at)) return null;
      return run.ruleHash === rule.hash
        ? 'it is of an earlier time of the schedule.'
        : 'it is of another text of the rule than the approved one.';
    };
    const { open, givenUp } = await runToGoOnWith(realm, rule.name, period, whyNotMeant);
    if (givenUp !== null) app.logger.warn({ rule: rule.name, message: givenUp }, 'schedule');
    const skipped = (
      { id }: RunMeta,
      batch: string,
      how: string,
      next = `\`almoner status ${batch}\` says how it stands.`,
    ) =>
      became({
        result: 'skipped',
        run: id,
        batch,
        message: `Nothing was enqueued: batch ${batch}, run ${id} of ${period}, ${how}. Once it is over, the next time pays who is missing; ${next}`,
      });
    if (open !== undefined && open.batch !== null)
      return skipped(open.run, open.batch.manifest.batch, `is ${open.batch.state} and not through`);
    if (open !== undefined && (!open.run.scheduled || whyNotMeant(open.run) !== null)) {
      const { id, batch, scheduled } = open.run;
      const how = scheduled
        ? 'has payments that only the same batch puts right'
        : 'was begun by hand and is not sealed yet';
      const next = `\`almoner rules run --plan ${id}\` goes on with it, \`almoner cancel ${batch}\` takes it back.`;
      return skipped(open.run, batch ?? '', how, next);
    }
    const run =
      open?.run ??
      (await planRule(app, realm, loaded, { at, scheduled: true, stop: options.stop, onProgress: () => {} }))
        .meta;
    if (run.state === 'stopped')
      return became({ result: 'stopped', run: run.id, message: run.stops[0]?.message ?? null });
    const last = await became({ result: 'enqueued', run: run.id, message: givenUp });
    const made = await makeBatchApart(app, realm, run, { last, now: await this.now() });
    if (made === null) {
      const message = 'Nobody is missing but whom it pays.';
      const payer = await openRunOf(realm.ledger, rule.name, period);
      if (payer !== undefined) return became({ result: 'enqueued', ...payer, message });
      return became({ result: 'nothing', run: run.id, message: givenUp });
    }
    return made.existing ? skipped(run, made.ref.id, 'was made meanwhile') : { ...last, batch: made.ref.id };
  }

  /** The rule, null where its file waits for a person, or a sentence where it cannot be used. */
  private async load(entry: ScheduledRule): Promise<PackedRule | null | string> {
    const file = [entry.file, join(this.app.config.jobsFolder, basename(entry.file))].find((path) =>
      existsSync(path),
    );
    if (file === undefined) return `The rule file ${entry.file} is gone.`;
    const loaded = await readRule(file, file, this.options.stop);
    if ('faults' in loaded) return `${file} has faults: ${loaded.faults[0]?.message ?? ''}`;
    return loaded.rule.hash === entry.hash ? loaded : null;
  }

  /** Notes what became of it, as whoever dealt with it tells. */
  private async note(entry: ScheduledRule, last: LastRun, why?: string): Promise<void> {
    if (!(await noteTime(this.realm.ledger, entry, last, why))) return;
    this.app.logger.info({ rule: entry.rule, ...last }, 'scheduled run');
    this.options.onRun?.({ ...last, realm: this.realm.profile.name, rule: entry.rule });
  }

  private async lastOf(entry: ScheduledRule, at: number, became: Became): Promise<LastRun> {
    return lastOf(this.realm.ledger, entry, { ...became, at }, await this.now());
  }

  private async now(): Promise<number> {
    return this.options.now?.() ?? storeNowMs(this.realm.ledger);
  }
}
