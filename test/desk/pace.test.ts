import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HISTORY_RATE as RATE, RefusalHistory } from '../support/ledger/refusal-history.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

/** What the desk shows of a pace that was learnt, and who may have it forgotten. */
let desk: TestDesk;
beforeAll(async () => {
  const realm = {
    ALMONER_REALM_URL: 'http://127.0.0.1:1',
    ALMONER_REALM_ID: 'guild',
    ALMONER_API_KEY: 'key-of-the-guild',
  };
  desk = await startDesk({ env: { ...realm, ALMONER_RATE: '50/s' } });
});
afterAll(() => desk.close());

const cards = z.object({ realms: z.array(z.object({ realm: z.string(), pace: z.looseObject({}) })) });
const paceShown = async () => {
  const [card] = cards.parse((await desk.call('/api/overview')).json()).realms;
  return card?.pace;
};
const profile = () => {
  const [only] = desk.app.config.profiles;
  if (only === undefined) throw new Error('no realm is configured');
  return only;
};
const reset = (realm: string, as: string, body: object = {}) =>
  desk.call(`/api/realms/${realm}/pace/reset`, { method: 'POST', body, as });

const AS_CONFIGURED = {
  configured: RATE,
  learnt: null,
  others: 0,
  used: expect.any(Number),
  holdUntil: null,
  notes: [],
};
const LEARNT = {
  configured: RATE,
  learnt: { requests: 25, windowMs: 1_000, by: 'refusals', since: expect.any(String) },
  others: 0,
  used: expect.any(Number),
  holdUntil: expect.any(String),
  notes: [
    expect.stringContaining('keeps refusing more than 25/s'),
    expect.stringContaining('nothing is sent until'),
  ],
};

describe('the pace of a realm on the desk', () => {
  test('as configured, then what was learnt with its source, its beginning, the hold and the sentences', async () => {
    expect(await paceShown()).toMatchObject({ allowed: RATE, ...AS_CONFIGURED });
    await new RefusalHistory(desk.app.ledger(profile()), RATE, 60_000).halved(2);
    await until('the card to show it', async () => (await paceShown())?.learnt !== null);
    expect(await paceShown()).toMatchObject({ allowed: { requests: 25, windowMs: 1_000 }, ...LEARNT });
  });

  test('a viewer may not have it forgotten, and an unknown realm is refused', async () => {
    const { operator, viewer } = desk.tokens;
    const denied = await reset(profile().name, viewer);
    expect(denied.status).toBe(403);
    const unknown = await reset('nowhere', operator);
    expect([unknown.status, unknown.json()]).toMatchObject([
      400,
      { error: { code: 'ALM_CONFIG_REALM_UNKNOWN' } },
    ]);
    expect(await paceShown()).toMatchObject(LEARNT);
  });

  test('an operator may: it is answered with what holds now, shown, and audited with the reason', async () => {
    const { name } = profile();
    const done = await reset(name, desk.tokens.operator, { reason: 'the realm was mended' });
    expect([done.status, done.json()]).toEqual([200, { realm: name, ...AS_CONFIGURED }]);
    await until('the card to show it', async () => (await paceShown())?.learnt === null);
    expect(await paceShown()).toMatchObject({ allowed: RATE, ...AS_CONFIGURED });
    const audit = z.object({ entries: z.array(z.looseObject({ what: z.string() })) });
    const { entries } = audit.parse((await desk.call('/api/audit')).json());
    expect(entries.filter(({ what }) => what.includes(`the pace of realm ${name}`))).toMatchObject([
      { who: 'olga', why: 'the realm was mended' },
    ]);
  });
});
