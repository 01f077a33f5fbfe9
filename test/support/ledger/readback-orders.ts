import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { RealmProfile } from '../../../src/core/profile.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { Evidence } from '../../../src/queue/balances.js';
import { Pace } from '../../../src/queue/pace.js';
import { Readback } from '../../../src/queue/readback.js';
import { TwoClocks } from '../../../src/queue/two-clocks.js';
import { Unread } from '../../../src/queue/unread.js';
import { createRealmClient } from '../../../src/realm/client/client.js';
import { type LedgersOnRedis, type Line, sealed } from './ledgers-on-redis.js';
import { begun, claimFor, feedAll, held, settleAs } from './order-moves.js';
import { testProfile } from './realm-profile.js';

/** A realm over HTTP with scripted member balances, and orders under read-back that read them. */
const TERMS = { certainty: 'readback', currency: null, keyLifetimeMs: 1e9 } as const;
export const MAX = 3;

export type Answer = (response: ServerResponse, member: string) => void;
export const status =
  (code: number, body = '{"error":"x"}', headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);
export const balance = status(200, '{"tokenBalance":100}');

export function askedRealm() {
  const realm = { answer: balance, asked: 0, url: '' };
  const server = createServer((request, response) => {
    realm.asked += 1;
    realm.answer(response, /members\/(\d+)/.exec(request.url ?? '')?.[1] ?? '');
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    realm.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(() => server.close());
  beforeEach(() => {
    realm.answer = balance;
    realm.asked = 0;
  });
  return realm;
}

export async function readbackWorld(
  bench: LedgersOnRedis,
  baseUrl: string,
  lines: readonly Line[],
  changes: Partial<RealmProfile> = {},
) {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, lines);
  await feedAll(batch);
  const timeouts = { connectMs: 1_000, tlsMs: 1_000, responseMs: 200, totalMs: 1_000 };
  const attempts = { max: MAX, backoffMs: 1, backoffMaxMs: 2 };
  const profile = testProfile({ certainty: 'readback', timeouts, attempts, ...changes });
  const client = createRealmClient({ profile, baseUrl, readKey: () => 'k-secret' });
  const pace = new Pace(ledger, profile);
  const evidence = new Evidence(ledger, client, pace, profile);
  const dead: string[] = [];
  const unread = new Unread(
    ledger,
    profile,
    () => Promise.resolve({ batch: batch.ref.id, createdAt: Date.now(), sliceMs: 1_000 }),
    ({ row, state, why }) => dead.push(`${row.line} ${state} ${why.code}`),
  );
  const clocks = new TwoClocks(() => Promise.resolve(0));
  const readback = new Readback({ ledger, profile, evidence, clocks, unread, onTrouble: () => {} });

  /** Delivers the order as a worker does, up to the moment before the request leaves. */
  const deliver = async (index: number) => {
    for (;;) {
      const claimed = await claimFor(batch, index);
      if ('earlyByMs' in claimed) continue;
      if ('refusal' in claimed) return claimed.refusal === 'batch' ? claimed.state : claimed.refusal;
      const before = await readback.before(batch.row(index).order, null);
      if (!('kind' in before)) return 'read';
      await unread.beforeSending({ no: batch.no, index }, batch.row(index), claimed.hold, before);
      return before.kind;
    }
  };
  /** Sends the order and loses the answer. */
  const lose = async (index: number) => {
    const hold = await held(batch, index);
    const before = await readback.before(batch.row(index).order, null);
    if ('kind' in before) throw new Error(before.message);
    const { expected: _, ...kept } = before;
    await settleAs(batch, index, 'u', await begun(batch, index, { hold, before: kept }));
  };
  const look = (index: number) =>
    readback.resolve({
      batch: batch.ref.id,
      ref: { no: batch.no, index },
      row: batch.row(index),
      terms: TERMS,
    });
  const record = (index: number) => readRecord(batch.ref, index);
  const unknowns = async () => Number((await ledger.scripts.redis.hget(ledger.keyPrefix, 'unknowns')) ?? 0);
  return { ledger, batch, profile, client, pace, deliver, lose, look, record, unknowns, dead };
}
