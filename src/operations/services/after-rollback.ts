import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import { allLedgers, type RealmLedger, readBatch, reading, recovery } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { configuredProfile } from '../batches/batch-realm.js';
import { recordIn } from '../people/audit.js';
import { openForJudging } from './recovery.js';

export type ResumedRealms = {
  /** What a person let go on. */
  readonly resumed: readonly { readonly realm: string; readonly batches: readonly string[] }[];
  /** Realms whose journals are not merged: what is put back there may make them wait again. */
  readonly closed: readonly string[];
};

/** A person lets first sends go on after a rollback, in one realm or in all. */
export async function resumeAfterRollback(
  app: App,
  realm: string | undefined,
  by: { readonly who: string; readonly why: string | null },
): Promise<ResumedRealms> {
  const resumed: ResumedRealms['resumed'][number][] = [];
  const closed: string[] = [];
  const all = await allLedgers(app.scripts);
  // A realm may have the name that is the id of another: the name goes first, so that only one is resumed.
  const named = all.filter((ledger) => ledger.realm.name === realm);
  const byId = all.filter((ledger) => ledger.realm.realmId === realm);
  for (const ledger of realm === undefined ? all : named.length > 0 ? named : byId) {
    const { name } = ledger.realm;
    const audit = { at: Date.now(), ...by, what: 'resumed after a rollback of the store' };
    const waits = await recovery.afterRollback.readWaitAfterRollback(ledger);
    if (waits !== null) await mergeOnceMore(app, ledger);
    const done = await recovery.afterRollback.resumeAfterRollback(ledger, waits?.sinceMs ?? 0, audit);
    if (done.answer === 'disarmed') closed.push(name);
    if (done.answer !== 'resumed') continue;
    const what = `resumed realm ${name} after a rollback of the store`;
    const sums = await plannedIn(ledger, done.batches);
    await recordIn(app.scripts, by.who, { what, why: by.why, batches: done.batches, ...sums });
    resumed.push({ realm: name, batches: done.batches });
  }
  if (resumed.length === 0 && closed.length > 0)
    throw new AlmonerError(
      'ALM_LEDGER_AFTER_ROLLBACK',
      `The ledger of realm ${closed.join(', ')} is closed. Nothing can be resumed yet, and nothing was resumed.`,
      { next: 'run `almoner recover` and decide what it asks' },
    );
  return { resumed, closed };
}

/** What is still to be sent of these batches. */
async function plannedIn(ledger: RealmLedger, batches: readonly BatchId[]) {
  let [orders, tokens] = [0, 0n];
  for (const id of batches) {
    const no = await reading.batchNumber(ledger, id);
    const view = no === null ? undefined : await readBatch({ ledger, no, id });
    orders += view?.counts.planned ?? 0;
    tokens += view?.sums.planned ?? 0n;
  }
  return { orders, tokens };
}

/**
 * An embedded store that no process kept running was started for this very command, and its journals are merged once
 * more. What that finds to be forgotten makes first sends wait anew, and a person looks at it before anything goes on.
 */
async function mergeOnceMore(app: App, ledger: RealmLedger): Promise<void> {
  const profile = configuredProfile(app.config, ledger.realm);
  if (profile !== undefined) await openForJudging(app, profile);
}
