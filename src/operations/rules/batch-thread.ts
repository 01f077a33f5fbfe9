import { parentPort, workerData } from 'node:worker_threads';
import { carry } from '../../core/errors/error.js';
import { findRun } from '../../rules/run-store.js';
import { App } from '../../runtime/app.js';
import { pickProfile } from '../../runtime/config/config.js';
import { createLogger } from '../../runtime/logger.js';
import { type BatchMade, type BatchWanted, makeBatch } from './run.js';

/** The thread that makes a large batch of a rule's run: started by run.ts, and over with it. */
const { config, realm: name, run, last, now, why, person }: BatchWanted = workerData;

async function make(): Promise<BatchMade> {
  const app = await App.open({
    config,
    logger: createLogger({ level: config.logLevel }),
    env: process.env,
    clientName: 'batch',
    patienceMs: Number.POSITIVE_INFINITY,
  });
  try {
    const realm = await app.realm(pickProfile(config, name));
    const made = await makeBatch(
      person === null ? app : app.as(person),
      realm,
      await findRun(realm.ledger, run),
      { last, now, why },
    );
    return made && { no: made.ref.no, id: made.ref.id, existing: made.existing };
  } finally {
    await app.close();
  }
}

parentPort?.postMessage(await carry(make));
