import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import { allLedgers, reading, recovery, type ScriptClient, storeFacts } from '../../ledger/index.js';
import { archiveFolder } from '../../runtime/app.js';
import { openPrivateStore } from '../../runtime/redis/private-server.js';
import { checkFiles, type FileProgress, type Manifest, readManifest, STORE_FILE } from './manifest.js';

/** The ledgers of a store, or of a backup, against their invariants. Nothing is changed. */
export type RealmVerified = Awaited<ReturnType<typeof reading.verifyLedger>> & {
  readonly realm: string;
  readonly ledger: string;
};

export type VerifyWatch = {
  readonly signal: AbortSignal;
  readonly onFiles: FileProgress;
  readonly onBatches: (realm: string, done: number, of: number) => void;
};

/** `isEmbedded`: the store lies in the data folder, and so do all its archives. */
export async function verifyRealms(
  scripts: ScriptClient,
  { isEmbedded, onBatches }: { readonly isEmbedded: boolean; readonly onBatches: VerifyWatch['onBatches'] },
): Promise<RealmVerified[]> {
  const archives = isEmbedded ? 'here' : 'on any machine';
  const verified: RealmVerified[] = [];
  for (const ledger of await allLedgers(scripts)) {
    const { name } = ledger.realm;
    const audit = await reading.verifyLedger(ledger, {
      archives,
      onProgress: (done, of) => onBatches(name, done, of),
    });
    verified.push({ realm: name, ledger: ledger.id, ...audit });
  }
  const known = new Set(verified.map(({ ledger }) => ledger));
  const unlisted = (await storeFacts.ledgers(scripts)).filter((id) => !known.has(id));
  return [...verified, ...unlisted.map(unlistedLedger)];
}

/** Every command finds the ledgers by the list of realms: one that is not in it would never be looked at. */
function unlistedLedger(id: string): RealmVerified {
  const differences = [`ledger ${id} is in the store and in no list of realms`];
  return { realm: '-', ledger: id, batches: 0, orders: 0, differences, unchecked: [] };
}

export type BackupVerified = {
  readonly manifest: Manifest;
  /** Of its files, and of what its store lacks. */
  readonly differences: readonly string[];
  readonly realms: readonly RealmVerified[];
};

/** Checks every hash, then loads the store in a private server and audits it. */
export async function verifyBackup(folder: string, watch: VerifyWatch): Promise<BackupVerified> {
  const manifest = await readManifest(folder);
  const work = await mkdtemp(join(tmpdir(), 'almoner-verify-'));
  try {
    const { signal, onFiles: onProgress } = watch;
    const differences = await checkFiles(folder, manifest, { signal, onProgress });
    // What is damaged is not loaded: what Redis made of it would say nothing.
    if (differences.some((what) => what.startsWith(STORE_FILE))) return { manifest, differences, realms: [] };
    const realms = await auditCopy(folder, work, manifest, watch);
    return { manifest, differences: [...differences, ...realms.lacks], realms: realms.verified };
  } catch (error) {
    if (!watch.signal.aborted) throw error;
    throw new AlmonerError(
      'ALM_BACKUP_INTERRUPTED',
      'The check of the backup was stopped. Nothing was changed.',
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function auditCopy(folder: string, work: string, manifest: Manifest, watch: VerifyWatch) {
  const store = await openPrivateStore({
    folder: work,
    copy: join(folder, STORE_FILE),
    db: manifest.store.db,
    archives: archiveFolder(folder),
    signal: watch.signal,
  });
  try {
    await storeFacts.refuseOtherFormat(store.scripts);
    const ledgers = new Map((await allLedgers(store.scripts)).map((ledger) => [ledger.id, ledger]));
    const lacks: string[] = [];
    for (const { name, ledger: id, seq } of manifest.realms) {
      const ledger = ledgers.get(id);
      const found = ledger === undefined ? null : (await recovery.fence.read(ledger)).seq;
      if (found === null) lacks.push(`realm ${name}: its ledger is not in the store`);
      else if (found < seq)
        lacks.push(`realm ${name}: the store ends at move ${found}, the manifest says at least ${seq}`);
    }
    const verified = await verifyRealms(store.scripts, {
      isEmbedded: manifest.store.embedded,
      onBatches(...at) {
        watch.signal.throwIfAborted();
        watch.onBatches(...at);
      },
    });
    return { lacks, verified };
  } finally {
    await store.end();
  }
}
