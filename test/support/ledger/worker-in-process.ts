import type { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import type { RealmProfile } from '../../../src/core/profile.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import type { WorkerLimits } from '../../../src/queue/limits.js';
import { realmWorker } from '../../../src/queue/worker.js';
import { createRealmClient, type RealmClient } from '../../../src/realm/client/client.js';
import type { TestRedis } from '../redis-server.js';
import { tempFolder } from '../temp-folder.js';
import type { TestBatch } from './ledgers-on-redis.js';
import { testProfile } from './realm-profile.js';

/** A complete worker inside this process, with a client of its own; only the process itself is missing. */
export type WorkerInProcess = {
  readonly session: Session;
  readonly folder: string;
  readonly trouble: readonly string[];
  readonly stalled: readonly Error[];
  /** Stops like SIGTERM: requests under way finish, and the session deregisters. */
  stop(): Promise<void>;
};

/** Time-outs that no request reaches on a slow machine; a time-out would resend it under its key. */
export const PATIENT = { timeouts: { connectMs: 5_000, tlsMs: 5_000, responseMs: 20_000, totalMs: 30_000 } };

export async function startWorkerInProcess(
  batch: TestBatch,
  redis: TestRedis,
  url: string,
  changes: Partial<RealmProfile> = {},
  folder?: string,
  more: {
    /** The ledger's Redis connection. */
    readonly connection?: Redis;
    readonly limits?: Partial<WorkerLimits>;
    readonly change?: (client: RealmClient) => RealmClient;
    /** The certificate authority of the realm's certificate. */
    readonly ca?: string;
  } = {},
): Promise<WorkerInProcess> {
  const place = folder ?? (await tempFolder());
  const profile = testProfile({
    certainty: 'idempotent',
    timeouts: { connectMs: 1_000, tlsMs: 1_000, responseMs: 250, totalMs: 300 },
    attempts: { max: 3, backoffMs: 20, backoffMaxMs: 20 },
    ...changes,
    // The batch keeps its sealed address; the client decides which realm answers.
    baseUrl: batch.ledger.realm.baseUrl,
    realmId: batch.ledger.realm.realmId,
  });
  const { ca } = more;
  const plain = createRealmClient({
    profile,
    baseUrl: url,
    readKey: () => 'key',
    ...(ca !== undefined && { ca }),
  });
  const client = more.change?.(plain) ?? plain;
  const connection = more.connection ?? redis.client();
  const ledger = openLedger(
    new ScriptClient(connection, 10_000, () => {}),
    batch.ledger.realm,
    batch.ledger.asked,
  );
  const session = await Session.open('worker', place);
  const trouble: string[] = [];
  const stalled: Error[] = [];
  const crew = realmWorker({
    ledger,
    profile,
    client,
    session,
    run: null,
    concurrency: 4,
    connect: () => redis.client(),
    onTrouble: (message) => trouble.push(message),
    onStalled: (error) => stalled.push(error),
    limits: more.limits ?? {},
  });
  await crew.start();
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= crew.stop().finally(async () => {
      await client.close();
      await session.close();
    });
    return ended;
  };
  // A test that stops the worker itself checks its result itself.
  onTestFinished(() => (ended === undefined ? stop() : ended.catch(() => {})));
  return { session, folder: place, trouble, stalled, stop };
}
