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

/** A whole crew in this process, with a client of its own: all that a worker is but the process. */
export type WorkerInProcess = {
  readonly session: Session;
  readonly folder: string;
  readonly trouble: readonly string[];
  readonly stalled: readonly Error[];
  /** As SIGTERM does it: what is being sent finishes, and the session leaves. */
  stop(): Promise<void>;
};

/** On a slow machine no request times out, to be asked again under its key. */
export const PATIENT = { timeouts: { connectMs: 5_000, tlsMs: 5_000, responseMs: 20_000, totalMs: 30_000 } };

export async function startWorkerInProcess(
  batch: TestBatch,
  redis: TestRedis,
  url: string,
  changes: Partial<RealmProfile> = {},
  folder?: string,
  more: {
    /** The ledger's own connection. */
    readonly connection?: Redis;
    readonly limits?: Partial<WorkerLimits>;
    readonly change?: (client: RealmClient) => RealmClient;
    /** The authority that signed the realm's certificate. */
    readonly ca?: string;
  } = {},
): Promise<WorkerInProcess> {
  const place = folder ?? (await tempFolder());
  const profile = testProfile({
    certainty: 'idempotent',
    timeouts: { connectMs: 1_000, tlsMs: 1_000, responseMs: 250, totalMs: 300 },
    attempts: { max: 3, backoffMs: 20, backoffMaxMs: 20 },
    ...changes,
    // As the batch was sealed; the realm that answers is wherever the client asks.
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
  // A test that stops the worker itself has seen how that ended.
  onTestFinished(() => (ended === undefined ? stop() : ended.catch(() => {})));
  return { session, folder: place, trouble, stalled, stop };
}
