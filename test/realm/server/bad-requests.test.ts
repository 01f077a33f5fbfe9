import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';

let redis: TestRedis;
let realm: TestRealm;

beforeAll(async () => {
  redis = await startRedis();
  realm = await startRealm(redis);
  await realm.admin.putMembers(realm.realmId, [
    { member: '1', tokens: 1000 },
    { member: '2', tokens: 1000 },
  ]);
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
});

const patch = (path: string, body: string, headers: Record<string, string> = {}) =>
  realm.call(path, { method: 'PATCH', body, headers });

describe('bad input is refused with a message that names it, and changes nothing', () => {
  it.each([
    ['', /it was empty/],
    ['{"tokens": 5', /not valid JSON/],
    ['[5]', /must be a JSON object, got a list/],
    ['5', /must be a JSON object, got the number "5"/],
    ['null', /must be a JSON object, got null/],
    ['{}', /tokens is missing/],
    ['{"amount": 5}', /tokens is missing/],
    ['{"__proto__": {"tokens": 5}}', /tokens is missing/],
    ['{"tokens": "5"}', /must be a JSON integer, got a string/],
    ['{"tokens": null}', /must be a JSON integer, got null/],
    ['{"tokens": true}', /must be a JSON integer, got true/],
    ['{"tokens": 5.0}', /plain digits, got "5.0"/],
    ['{"tokens": 1e3}', /plain digits, got "1e3"/],
    ['{"tokens": 0}', /must not be zero/],
    ['{"tokens": -0}', /must not be zero/],
    ['{"tokens": 1000000000000001}', /between -1000000000000000 and 1000000000000000/],
    ['{"tokens": -1000000000000001}', /between/],
    ['{"tokens": 99999999999999999999999999}', /between/],
    ['{"tokens": 5, "tokens": 6}', /not valid JSON: Duplicate key/],
    ['{"tokens": 5, "realmPointId": "gold"}', /only "default" exists, got "gold"/],
    ['{"tokens": 5, "realmPointId": 1}', /must be the name of a currency, got the number "1"/],
    ['{"tokens": 5, "realmPointId": ""}', /must be the name of a currency, got ""/],
    [`${'['.repeat(100_000)}`, /not valid JSON/],
  ])('tokenBalance %.60s', async (body, message) => {
    const reply = await patch('/members/1/tokenBalance', body, { 'content-type': 'application/json' });
    expect(reply).toMatchObject({
      status: 400,
      json: { error: 'invalid_request', message: expect.stringMatching(message) },
    });
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(1000);
  });

  it.each([
    ['{"tokens": 5}', /recipientId is missing/],
    ['{"recipientId": 2}', /tokens is missing/],
    [
      '{"recipientId": -2, "tokens": 5}',
      /recipientId must be 1 to 20 decimal digits without a leading zero, got "-2"/,
    ],
    ['{"recipientId": 2.0, "tokens": 5}', /recipientId/],
    ['{"recipientId": 1.19e18, "tokens": 5}', /recipientId/],
    ['{"recipientId": [2], "tokens": 5}', /got a list/],
    ['{"recipientId": "two", "tokens": 5}', /recipientId/],
    ['{"recipientId": 1, "tokens": 5}', /to itself/],
  ])('transfer %s', async (body, message) => {
    const reply = await patch('/members/1/transfer', body);
    expect(reply).toMatchObject({ status: 400, json: { message: expect.stringMatching(message) } });
  });

  it('answers 415 for another content type and 413 for too large a body', async () => {
    expect(
      await patch('/members/1/tokenBalance', 'tokens=5', { 'content-type': 'text/plain' }),
    ).toMatchObject({
      status: 415,
      json: { error: 'unsupported_media_type' },
    });
    const padded = `{"tokens": 5, "x": "${'x'.repeat(300_000)}"}`;
    expect(await patch('/members/1/tokenBalance', padded)).toMatchObject({
      status: 413,
      json: { error: 'payload_too_large' },
    });
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(1000);
  });

  it('answers every error in one shape, with the request id of the header', async () => {
    const reply = await patch('/members/1/tokenBalance', '{}');
    expect(reply.json).toEqual({
      error: 'invalid_request',
      message: 'The field tokens is missing.',
      details: { field: 'tokens' },
      requestId: reply.headers['x-request-id'],
    });
  });
});

describe('input that is fine', () => {
  it('may carry unknown fields, the default currency and a JSON content type with parameters', async () => {
    const type = { 'content-type': 'application/json; charset=utf-8' };
    const body = '{"tokens": 5, "realmPointId": "default", "note": "hello"}';
    expect((await patch('/members/2/tokenBalance', body, type)).json).toEqual({ newBalance: 1005 });
    const bound = '{"tokens": 1000000000000000}';
    expect((await patch('/members/2/tokenBalance', bound)).json).toEqual({ newBalance: 1000000000001005 });
  });
});
