import { Worker } from 'node:worker_threads';
import { arrived, type Carried } from '../../core/errors/error.js';
import { Line } from '../../core/line.js';
import type { BatchRef } from '../../ledger/index.js';
import type { Imported } from '../../planning/store-plan.js';
import type { LastRun } from '../../rules/approvals.js';
import type { RunMeta } from '../../rules/run-record.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import type { Config } from '../../runtime/config/config.js';
import { makeBatch } from '../rules/run.js';

export type BatchWanted = {
  readonly config: Config;
  readonly realm: string;
  readonly run: string;
  readonly last: LastRun | null;
  readonly now: number;
};
export type BatchMade = (Pick<BatchRef, 'no' | 'id'> & Pick<Imported, 'existing'>) | null;

/** One at a time: each may take a core, and the store serves them one after the other anyway. */
const line = new Line(1);

/** Fewer orders are a batch before a thread has begun. */
const APART_FROM_ORDERS = 5_000;

/**
 * The same as `makeBatch`, for a process that has to answer meanwhile: hashing, packing and storing some hundred
 * thousand orders happens in a thread, with connections of its own.
 */
export async function makeBatchApart(
  app: App,
  realm: OpenRealm,
  run: RunMeta,
  last: LastRun | null,
  now: number,
): Promise<Imported | null> {
  if (run.awards < APART_FROM_ORDERS) return makeBatch(app, realm, run, last, now);
  const wanted: BatchWanted = { config: app.config, realm: realm.profile.name, run: run.id, last, now };
  const made = arrived(await line.through(() => replyOfThread(wanted)));
  return made && { ref: { ledger: realm.ledger, no: made.no, id: made.id }, existing: made.existing };
}

function replyOfThread(wanted: BatchWanted): Promise<Carried<BatchMade>> {
  const thread = new Worker(new URL('./batch-thread.js', import.meta.url), { workerData: wanted });
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread that makes a batch ended by itself')));
  });
}
