import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { ConcurrencyLimit } from '../core/concurrency-limit.js';
import { counted } from '../core/counted.js';
import { AlmonerError, arrived, type Carried, hasCode } from '../core/errors/error.js';
import type { RuleFaults } from './fault.js';
import { slicesOf } from './packed-audience.js';
import { fileStamp, type PackedRule, type Rule } from './rule.js';
import type { Jobs, Looked, RuleHead } from './rule-jobs.js';

/**
 * A thread for one use of a rule at a time, with a time limit. A pattern such as `^(a+)+$` can keep the engine busy
 * for hours, and only another thread can end it. The caller that starts a thread must close it.
 */
export type JudgingLimits = {
  /** The time for one member. A few microseconds are usual; the limit leaves room for a busy machine. */
  readonly memberMs: number;
  /** The time for all members together: a base, and more for each member. */
  readonly totalMs: number;
  readonly totalMsPerMember: number;
};

export const JUDGING_LIMITS: JudgingLimits = { memberMs: 1_000, totalMs: 10_000, totalMsPerMember: 1 };

/** Enough for a million members with their facts. An expression that needs more ends the thread, not the process. */
const HEAP_MB_MAX = 2_048;
/** Time is counted in looks. A process that was frozen or overloaded must not count as a slow expression. */
const LOOK_EVERY_MS = 50;

type JudgedAudience = {
  readonly rule: Pick<Rule, 'name' | 'file'>;
  /** How many members the audience has, and who the member of this job is. */
  readonly members: number;
  readonly memberAt: (index: number) => string;
};

type Pending = { readonly resolve: (value: never) => void; readonly reject: (error: unknown) => void };

/** A thread for rule jobs, with limits on time and memory. */
export class RuleThread {
  private readonly progress = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  private readonly worker: Worker;
  private pending: Pending | null = null;
  private ended: Error | null = null;
  private judgedMs = 0;
  private stop: AbortSignal | undefined;

  constructor(
    stop?: AbortSignal,
    private readonly limits: JudgingLimits = JUDGING_LIMITS,
  ) {
    this.worker = new Worker(new URL('./rule-jobs.js', import.meta.url), {
      workerData: { progress: this.progress },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    this.worker.on('message', (reply: Carried<never>) => this.take(reply));
    this.worker.on('error', (error) => {
      this.end(hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY') ? tooLarge() : error);
    });
    this.worker.on('exit', () => this.end(new Error('the thread of a rule ended by itself')));
    this.endsWith(stop);
  }

  /** The signal that ends the thread from now on. */
  endsWith(stop: AbortSignal | undefined): void {
    this.stop?.removeEventListener('abort', this.onStop);
    this.stop = stop;
    if (stop?.aborted) this.end(interrupted());
    else stop?.addEventListener('abort', this.onStop, { once: true });
  }

  /** True if the thread is alive and has no job, so another use may follow. */
  get isFree(): boolean {
    return this.ended === null && this.pending === null;
  }

  /** Between two uses the thread does not keep the process alive. */
  keepProcess(isKept: boolean): void {
    if (isKept) this.worker.ref();
    else this.worker.unref();
  }

  /** Sends one job to the thread and returns its result. Only one job may run at a time. */
  ask<J extends keyof Jobs>(job: J, ...args: Parameters<Jobs[J]>): Promise<Awaited<ReturnType<Jobs[J]>>> {
    return new Promise((resolve, reject) => {
      if (this.ended !== null) return reject(this.ended);
      if (this.pending !== null) return reject(new Error('the thread of a rule is busy'));
      if (job === 'begin') this.judgedMs = 0;
      this.pending = { resolve, reject };
      this.worker.postMessage({ job, args });
    });
  }

  /** The same for a job that evaluates expressions. It is ended when it exceeds its time. */
  async judge<J extends 'meeting' | 'decide'>(
    judged: JudgedAudience,
    job: J,
    ...args: Parameters<Jobs[J]>
  ): Promise<Awaited<ReturnType<Jobs[J]>>> {
    const watch = this.watch(judged);
    try {
      return await this.ask(job, ...args);
    } finally {
      clearInterval(watch);
    }
  }

  /** Ends the thread and waits for its end. */
  async close(): Promise<void> {
    this.end(new Error('the thread of a rule was closed'));
    await this.worker.terminate();
  }

  private watch(judged: JudgedAudience): NodeJS.Timeout {
    const { memberMs, totalMs, totalMsPerMember } = this.limits;
    const allMs = totalMs + totalMsPerMember * judged.members;
    let seen = -1;
    let sameMs = 0;
    return setInterval(() => {
      const count = Atomics.load(this.progress, 0);
      const index = Atomics.load(this.progress, 1);
      if (index < 0) return;
      sameMs = count === seen ? sameMs + LOOK_EVERY_MS : 0;
      seen = count;
      this.judgedMs += LOOK_EVERY_MS;
      if (sameMs < memberMs && this.judgedMs < allMs) return;
      const [limitMs, who] =
        sameMs < memberMs
          ? [allMs, `all ${counted(judged.members, 'member')} together`]
          : [memberMs, 'one member'];
      this.end(tooSlow(judged, index, `${limitMs} ms, which is the limit for ${who}`));
    }, LOOK_EVERY_MS);
  }

  private take(reply: Carried<never>): void {
    const pending = this.pending;
    this.pending = null;
    try {
      pending?.resolve(arrived(reply));
    } catch (error) {
      pending?.reject(error);
    }
  }

  private readonly onStop = () => this.end(interrupted());

  private end(why: Error): void {
    if (this.ended !== null) return;
    this.ended = why;
    this.stop?.removeEventListener('abort', this.onStop);
    this.pending?.reject(why);
    this.pending = null;
    void this.worker.terminate();
  }
}

/** Each thread may use a core and HEAP_MB_MAX. */
const THREADS_MAX = 2;
const line = new ConcurrencyLimit(THREADS_MAX);

/**
 * How long an idle thread is kept. A new one needs 0.4 s of a core to load its modules, and one use often follows
 * another.
 */
const IDLE_MS = 10_000;
type Idle = { readonly thread: RuleThread; readonly closing: NodeJS.Timeout };
const idle: Idle[] = [];

/**
 * Runs `work` with a thread of its own, and afterwards closes or parks the thread, whatever happens. A thread that is
 * passed in serves many runs and stays open. Other callers wait for a free thread, so work that itself waits, as for
 * a realm, must be done outside.
 */
export function withRuleThread<T>(
  stop: AbortSignal | undefined,
  work: (thread: RuleThread) => Promise<T>,
  given?: RuleThread,
): Promise<T> {
  if (given !== undefined) return work(given);
  return line.through(async () => {
    const thread = idleThread() ?? new RuleThread();
    thread.endsWith(stop);
    try {
      return await work(thread);
    } finally {
      await putAside(thread);
    }
  });
}

/** Takes an idle thread out of the pool, if there is one. */
function idleThread(): RuleThread | undefined {
  for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
    clearTimeout(found.closing);
    if (!found.thread.isFree) continue;
    found.thread.keepProcess(true);
    return found.thread;
  }
  return undefined;
}

/** Clears the thread's data for the next use. A thread that has ended, or still has a job, is closed. */
async function putAside(thread: RuleThread): Promise<void> {
  if (thread.isFree) await thread.ask('forget').catch(() => {});
  thread.endsWith(undefined);
  if (!thread.isFree) return thread.close();
  thread.keepProcess(false);
  const closing = setTimeout(() => {
    idle.splice(idle.indexOf(one), 1);
    void thread.close();
  }, IDLE_MS).unref();
  const one = { thread, closing };
  idle.push(one);
}

/** The error of an expression that took too long. It names the member, so that a person can find the cause. */
function tooSlow({ rule, memberAt }: JudgedAudience, index: number, limit: string): AlmonerError {
  return new AlmonerError(
    'ALM_RULE_TOO_SLOW',
    `The expressions of rule ${rule.name} (${rule.file}) took more than ${limit}, and were stopped at member ${memberAt(index)}. Nothing was enqueued and nothing was sent.`,
  );
}

function tooLarge(): AlmonerError {
  return new AlmonerError(
    'ALM_RULE_TOO_LARGE',
    `The rule needed more than ${HEAP_MB_MAX} MB of memory and was stopped. Nothing was enqueued and nothing was sent.`,
  );
}

function interrupted(): AlmonerError {
  return new AlmonerError(
    'ALM_RULE_INTERRUPTED',
    'Planning the rule was interrupted; the facts read so far are kept. Nothing was enqueued and nothing was sent.',
  );
}

/** Reads a rule file and all files that it names in a thread. `file` is the name for people. */
export function readRule(
  path: string,
  file: string = path,
  stop?: AbortSignal,
): Promise<PackedRule | RuleFaults> {
  return withRuleThread(stop, async (thread) => {
    const head = await thread.ask('load', path, file);
    if ('faults' in head) return head;
    const { rule, audience } = head;
    const slices: string[] = [];
    while (slices.length < slicesOf(audience.members)) slices.push(await thread.ask('slice', slices.length));
    return { rule, audience: { ...audience, slices } };
  });
}

type RuleFile = { readonly path: string; readonly file: string };

const looks = new ConcurrencyLimit(1);
const kept = new LRUCache<string, Looked>({ max: 1_000 });

/**
 * Reads the rules of some files, without their members. Member lists that rules refer to are skipped, unless the
 * caller `named` them. Only one reading runs at a time, and its result is reused until one of the files changes, so
 * that repeated requests need no thread.
 */
export function lookAtRules(
  files: readonly RuleFile[],
  named = false,
): Promise<{ file: string; result: RuleHead }[]> {
  const keyOf = ({ path, file }: RuleFile) => JSON.stringify([named, path, file]);
  return looks.through(async () => {
    const known = await Promise.all(files.map((one) => unchanged(kept.get(keyOf(one)))));
    if (known.includes(undefined))
      await withRuleThread(undefined, async (thread) => {
        for (const [at, one] of files.entries()) {
          const looked = known[at] ?? (await thread.ask('look', one.path, one.file, named));
          kept.set(keyOf(one), looked);
          known[at] = looked;
        }
      });
    return files.flatMap(({ file }, at) => {
      const result = known[at]?.head ?? null;
      return result === null ? [] : [{ file, result }];
    });
  });
}

/** Returns the earlier result if none of its files has changed. */
async function unchanged(looked: Looked | undefined): Promise<Looked | undefined> {
  const stamps = await Promise.all((looked?.seen ?? []).map(({ path }) => fileStamp(path)));
  return looked?.seen.every(({ stamp }, at) => stamp === stamps[at]) ? looked : undefined;
}
