import { type ConnectionOptions, type Queue, Worker } from 'bullmq';
import type { RealmLedger } from '../ledger/index.js';
import { openQueue, type QueueConnection } from './queues.js';

/**
 * Wake-ups for rules: one BullMQ job scheduler for each rule, in the realm's prefix. A job is only a nudge to
 * look which runs are due. It may come twice, late (BullMQ does not catch up) or an hour off on the day the
 * clocks change; what is due follows from the rule and the time alone, and the look every half minute of
 * whoever serves finds what a lost wake-up would have missed.
 */
type WakeUp = { readonly rule: string };
type WakeUpTime = WakeUp & { readonly cron: string; readonly timezone: string };

export const SCHEDULES_QUEUE = 'schedules';

/** Makes the job schedulers of a realm equal to what is wanted. */
export async function syncWakeUps(
  ledger: RealmLedger,
  connection: ConnectionOptions,
  wanted: readonly WakeUpTime[],
): Promise<void> {
  const queue = openQueue<WakeUp>(ledger, SCHEDULES_QUEUE, connection);
  try {
    for (const rule of await wakeUps(queue))
      if (!wanted.some((one) => one.rule === rule)) await queue.removeJobScheduler(rule);
    for (const { rule, cron, timezone } of wanted)
      await queue.upsertJobScheduler(
        rule,
        { pattern: cron, tz: timezone },
        { name: 'wake', data: { rule }, opts: { removeOnComplete: true, removeOnFail: true, attempts: 1 } },
      );
  } finally {
    await queue.close();
  }
}

async function wakeUps(queue: Queue<WakeUp>): Promise<string[]> {
  const found: string[] = [];
  for (let start = 0; ; start += PAGE) {
    const page = await queue.getJobSchedulers(start, start + PAGE - 1);
    found.push(...page.map(({ key }) => key));
    if (page.length < PAGE) return found;
  }
}

const PAGE = 100;

type SchedulerOptions = {
  readonly ledger: RealmLedger;
  readonly connection: QueueConnection;
  /** Looks whether the rule is due, and sees to it. Called again while it works; it must bear that. */
  readonly onWake: (rule: string) => Promise<void>;
  readonly onTrouble: (message: string) => void;
};

/** Listens for the wake-ups of one realm. Any number of processes may do so at once. */
export function startScheduler({ ledger, connection, onWake, onTrouble }: SchedulerOptions): {
  stop(): Promise<void>;
} {
  const worker = new Worker<WakeUp, null>(
    SCHEDULES_QUEUE,
    async ({ data }) => {
      // Not awaited: reading facts may take hours, and a job that long would be taken for stalled.
      onWake(data.rule).catch((error: unknown) => onTrouble(`schedule of ${data.rule}: ${String(error)}`));
      return null;
    },
    { connection, prefix: ledger.queuePrefix, removeOnComplete: { count: 0 } },
  );
  worker.on('error', (error) => onTrouble(`schedules: ${error.message}`));
  return { stop: () => worker.close() };
}
