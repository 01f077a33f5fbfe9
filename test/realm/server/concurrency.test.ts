import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bareHttp } from '../../support/bare-http.js';
import { startRealmProcess } from '../../support/program/almoner.js';
import { type AuditedAdmin, auditedAdmin } from '../../support/program/realm-records.js';
import { startRealm } from '../../support/program/realm-service.js';
import { freePort, startRedis, type TestRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const CLIENTS = 50;
/** Of all transfers together: a busy machine is slow with all of them. */
const ANSWER_LIMIT_MS = 100_000;
const MEMBERS = Array.from({ length: 20 }, (_, at) => String(1190000000000000000n + BigInt(at)));
const START = 1_000;
/** Three real processes and fifty clients on a machine that may be busy. */
const PATIENCE_MS = 120_000;
const SUM = BigInt(MEMBERS.length * START);
const seeds = () => MEMBERS.map((member) => ({ member, tokens: START }));

let redis: TestRedis;
let folder: string;
beforeAll(async () => {
  redis = await startRedis();
  folder = await mkdtemp(join(tmpdir(), 'almoner-realm-'));
});
afterAll(async () => {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Client and step decide the transfer, so that a resend has the same content. */
function transferOf(client: number, step: number) {
  const from = (client * 7 + step * 3) % MEMBERS.length;
  const to = (from + 1 + ((client + step) % (MEMBERS.length - 1))) % MEMBERS.length;
  return { from: MEMBERS[from] ?? '', to: MEMBERS[to] ?? '', tokens: 1 + ((client * step) % 300) };
}

async function hammer(options: {
  readonly url: string;
  readonly realmId: string;
  readonly key: string;
  readonly steps: number;
  readonly onAnswer?: (status: number) => void;
}): Promise<Map<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const answers = new Map<string, number>();
  const client = async (number: number) => {
    for (let step = 0; step < options.steps; step += 1) {
      const { from, to, tokens } = transferOf(number, step);
      const idempotencyKey = `c${number}-s${step}`;
      // A broken connection says nothing about the transfer: the same key is sent until there is an answer.
      const status = await until(
        `an answer to ${idempotencyKey}`,
        async () => {
          try {
            const reply = await bareHttp(
              `${options.url}/api/v4/realms/${options.realmId}/members/${from}/transfer`,
              {
                method: 'PATCH',
                body: `{"recipientId": ${to}, "tokens": ${tokens}}`,
                headers: { authorization: `Bearer ${options.key}`, 'idempotency-key': `"${idempotencyKey}"` },
                agent,
              },
            );
            return reply.status === 200 || reply.status === 422 ? reply.status : undefined;
          } catch {
            return undefined;
          }
        },
        ANSWER_LIMIT_MS,
      );
      answers.set(idempotencyKey, status);
      options.onAnswer?.(status);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  agent.destroy();
  return answers;
}

/** Adds the applied log up again, independently of the balances that the service kept. */
async function audit(admin: AuditedAdmin, realmId: string, answers: Map<string, number>) {
  expect(await admin.totalPoints(realmId)).toBe(SUM);
  const log = await admin.appliedChanges(realmId);
  const expected = new Map(MEMBERS.map((member) => [member, START]));
  for (const { member, recipient, tokens } of log) {
    expected.set(member, (expected.get(member) ?? 0) - tokens);
    expected.set(recipient ?? '', (expected.get(recipient ?? '') ?? 0) + tokens);
  }
  const balances = await admin.balances(realmId);
  expect(balances).toEqual(expected);
  for (const tokens of balances.values()) expect(tokens).toBeGreaterThanOrEqual(0);
  // Exactly the transfers that were answered 200 are in the log, each once.
  const paid = [...answers].filter(([, status]) => status === 200).map(([key]) => key);
  expect(log.map((line) => line.idempotencyKey).sort()).toEqual(paid.sort());
}

describe('50 clients hammering transfers among 20 members', () => {
  it(
    'keep the sum of points exactly constant',
    async () => {
      const realm = await startRealm(redis);
      await realm.admin.putMembers(realm.realmId, seeds());
      const answers = await hammer({ url: realm.url, realmId: realm.realmId, key: realm.key, steps: 12 });
      expect(answers.size).toBe(CLIENTS * 12);
      await audit(realm.admin, realm.realmId, answers);
      await realm.close();
    },
    PATIENCE_MS,
  );

  it(
    'keep it while the service is killed with SIGKILL and started again in the middle',
    async () => {
      const port = String(await freePort());
      const realmId = 'killed';
      const key = 'a-key-brought-along';
      const client = redis.client();
      const admin = auditedAdmin(client);
      await admin.putMembers(realmId, seeds());
      const serve = () =>
        startRealmProcess(
          ['--port', port, '--realm-id', realmId],
          { REDIS_URL: redis.url, ALMONER_API_KEY: key, ALMONER_LOG_LEVEL: 'silent' },
          folder,
        );
      let service = await serve();
      let answered = 0;
      const steps = 16;
      const hammering = hammer({
        url: service.url,
        realmId,
        key,
        steps,
        onAnswer: () => {
          answered += 1;
        },
      });
      for (const share of [0.2, 0.6]) {
        await until('a part of the transfers', () => answered > CLIENTS * steps * share);
        expect(await service.end('SIGKILL')).toBeNull();
        service = await serve();
      }
      const answers = await hammering;
      expect(answers.size).toBe(CLIENTS * steps);
      await audit(admin, realmId, answers);
      expect(await service.end('SIGTERM')).toBe(0);
      client.disconnect();
    },
    PATIENCE_MS,
  );
});
