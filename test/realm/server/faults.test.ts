import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFaultDice, FAULT_NAMES, parseFaults } from '../../../src/realm/server/faults.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

async function withFaults(switches: string[], test: (realm: TestRealm) => Promise<void>): Promise<void> {
  const realm = await startRealm(redis, { faults: parseFaults(switches) });
  await realm.admin.putMembers(realm.realmId, [{ member: '1', tokens: 0 }]);
  try {
    await test(realm);
  } finally {
    await realm.close();
  }
}

const balance = (realm: TestRealm) => realm.admin.balance(realm.realmId, '1');

describe('each fault does what its name says', () => {
  it('error-before: the status, and nothing applied', () =>
    withFaults(['error-before:1:503'], async (realm) => {
      expect(await realm.change('1', 5)).toMatchObject({ status: 503, json: { error: 'injected_fault' } });
      expect(await balance(realm)).toBe(0);
    }));

  it('error-after: the same answer, but applied, and the key remembers it', () =>
    withFaults(['error-after:1'], async (realm) => {
      const reply = await realm.change('1', 5, { 'idempotency-key': 'k' });
      expect(reply).toMatchObject({ status: 500, json: { error: 'injected_fault' } });
      await realm.change('1', 5, { 'idempotency-key': 'k' });
      expect(await balance(realm)).toBe(5);
    }));

  it('reset-before and reset-after: the connection is reset, and only the latter applied', async () => {
    await withFaults(['reset-before:1'], async (realm) => {
      await expect(realm.change('1', 5)).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(await balance(realm)).toBe(0);
    });
    await withFaults(['reset-after:1'], async (realm) => {
      await expect(realm.change('1', 5)).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(await balance(realm)).toBe(5);
    });
  });

  it('truncate: the status and a part of the body arrive, and it was applied', () =>
    withFaults(['truncate:1:4'], async (realm) => {
      await expect(realm.change('1', 5)).rejects.toMatchObject({ message: 'aborted' });
      expect(await balance(realm)).toBe(5);
    }));

  it('hang-after: applied without an answer; a caller that leaves is let go', () =>
    withFaults(['hang-after:1'], async (realm) => {
      const leave = new AbortController();
      const hanging = realm.call('/members/1/tokenBalance', {
        method: 'PATCH',
        body: { tokens: 5 },
        signal: leave.signal,
      });
      await until('the change', async () => (await balance(realm)) === 5);
      leave.abort();
      await expect(hanging).rejects.toMatchObject({ name: 'AbortError' });
    }));

  it('hang-before: not applied, and the key is free once the caller has left', () =>
    withFaults(['hang-before:1:50'], async (realm) => {
      await expect(realm.change('1', 5, { 'idempotency-key': 'k' })).rejects.toThrow();
      await expect(realm.change('1', 5, { 'idempotency-key': 'k' })).rejects.toThrow();
      expect(await balance(realm)).toBe(0);
    }));

  it('storm: one hit answers every request with 429 and Retry-After until it is over', () =>
    withFaults(['storm:1:1500'], async (realm) => {
      const reply = await realm.change('1', 5);
      expect(reply).toMatchObject({ status: 429, json: { error: 'rate_limited' } });
      expect(reply.headers['retry-after']).toBe('2');
      expect(await balance(realm)).toBe(0);
    }));

  it('latency: the call is served, later', () =>
    withFaults(['latency:1:120'], async (realm) => {
      const start = performance.now();
      expect((await realm.change('1', 5)).status).toBe(200);
      expect(performance.now() - start).toBeGreaterThan(110);
    }));

  it('hits reads too', () =>
    withFaults(['error-before:1:502'], async (realm) => {
      expect((await realm.call('/members/1')).status).toBe(502);
    }));
});

describe('closing', () => {
  it('does not wait for hanging requests', async () => {
    const realm = await startRealm(redis, { faults: parseFaults(['hang-after:1']) });
    await realm.admin.putMembers(realm.realmId, [{ member: '1', tokens: 0 }]);
    const hanging = Promise.allSettled(Array.from({ length: 5 }, () => realm.change('1', 1)));
    await until('five hanging requests', async () => (await balance(realm)) === 5);
    await realm.close();
    for (const settled of await hanging) expect(settled.status).toBe('rejected');
  });
});

describe('the dice', () => {
  const draw = (seed: number) => {
    const dice = createFaultDice(parseFaults(['all:0.1'], seed), () => 0);
    return Array.from({ length: 200 }, () => JSON.stringify(dice.next()));
  };

  it('repeat with the same seed and differ with another', () => {
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it('hit about as often as the probability says', () => {
    const dice = createFaultDice(parseFaults(['error-after:0.2'], 3), () => 0);
    const hits = Array.from({ length: 5_000 }, () => dice.next()).filter((draw) => draw.injected !== null);
    expect(hits.length).toBeGreaterThan(900);
    expect(hits.length).toBeLessThan(1_100);
  });
});

describe('fault switches', () => {
  it('are read with their usual values, and all switches everything on', () => {
    expect(parseFaults(['latency:0.5', 'error-after:1:504'], 9)).toEqual({
      seed: 9,
      rules: [
        { name: 'latency', probability: 0.5, value: 250 },
        { name: 'error-after', probability: 1, value: 504 },
      ],
    });
    expect(parseFaults(['all:0.05']).rules.map((rule) => rule.name)).toEqual([...FAULT_NAMES]);
  });

  it.each([
    ['latency', /name:probability/],
    ['latency:2', /probability from 0 to 1/],
    ['latency:', /probability/],
    ['latency:0.1:x', /integer from 0/],
    ['error-after:0.1:200', /from 500 to 599/],
    ['eror-after:0.1', /did you mean error-after/],
    ['all:0.1:5', /no value/],
    ['storm:0.1:1:1', /name:probability/],
  ])('%s is refused with the reason', (text, message) => {
    expect(() => parseFaults([text])).toThrow(message);
  });
});
