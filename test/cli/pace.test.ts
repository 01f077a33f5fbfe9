import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import { document } from '../support/document.js';
import { HISTORY_RATE as RATE, RefusalHistory, sayLimit } from '../support/ledger/refusal-history.js';
import { almoner } from '../support/program/almoner.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** What `almoner pace` shows for realms without a learned limit and with one, and how the limit is forgotten. */
// Long ones: what is a key of one test is kept out of everything that is printed in this process.
const KEYS = { KEY_11: 'key-of-the-guild', KEY_12: 'key-of-the-town', KEY_13: 'key-of-the-free' };
let redis: TestRedis;
let app: App;
let cwd: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  redis = await startRedis();
  cwd = await mkdtemp(join(tmpdir(), 'almoner-pace-'));
  const realm = (realmId: string, rate: string) => ({
    baseUrl: 'http://127.0.0.1:1',
    realmId,
    keyEnv: `KEY_${realmId}`,
    rate,
  });
  const realms = { guild: realm('11', '50/s'), town: realm('12', '50/s'), free: realm('13', 'none') };
  await writeFile(join(cwd, 'almoner.config.yaml'), JSON.stringify({ realms }));
  env = { REDIS_URL: redis.url, ALMONER_DATA: join(cwd, 'data'), ...KEYS };
  const config = await loadConfig({ env, cwd, flags: {} });
  const logger = createLogger({ level: 'silent' });
  app = await App.open({ config, logger, env, clientName: 'test', patienceMs: 10_000 });
});
afterAll(async () => {
  await app.close();
  await redis.stop();
  await rm(cwd, { recursive: true, force: true });
});

const run = (...args: string[]) => almoner(['pace', ...args], { env, cwd });
const ledgerOf = (realm: string): RealmLedger => app.ledger(pickProfile(app.config, realm));
const asConfigured = (realm: string, configured: object | null) => ({
  realm,
  configured,
  learnt: null,
  others: 0,
  used: expect.any(Number),
  holdUntil: null,
  notes: [],
});

describe('almoner pace', () => {
  test('nothing learnt: every realm as it is configured', async () => {
    expect(document(await run('--json'))).toEqual({
      realms: [asConfigured('guild', RATE), asConfigured('town', RATE), asConfigured('free', null)],
    });
    const { status, stdout } = await run();
    expect(status).toBe(0);
    expect(stdout).toContain('Realm guild: 50/s configured\n');
    expect(stdout).toContain('Realm free: none configured\n');
    const reset = await run('--realm', 'guild', '--reset');
    expect([reset.status, reset.stdout]).toEqual([
      0,
      expect.stringContaining('Nothing had been learnt of realm guild; its rate is 50/s.'),
    ]);
  });

  test('a limit found by being refused: with its source, its beginning and the hold, until it is forgotten', async () => {
    const ledger = ledgerOf('guild');
    const history = new RefusalHistory(ledger, RATE, 60_000);
    await history.halved(2);
    const shown = document(await run('--realm', 'guild', '--json'));
    expect(shown).toEqual({
      realms: [
        {
          realm: 'guild',
          configured: RATE,
          learnt: { requests: 25, windowMs: 1_000, by: 'refusals', since: expect.any(String) },
          others: 0,
          used: expect.any(Number),
          holdUntil: expect.any(String),
          notes: [
            expect.stringContaining('keeps refusing more than 25/s; almoner keeps to that instead of 50/s'),
            expect.stringContaining('nothing is sent until'),
          ],
        },
      ],
    });
    const { stdout, stderr } = await run();
    expect(`${stdout}${stderr}`).toContain('almoner pace --realm guild --reset');
    expect(stdout).toMatch(
      /^Realm guild: 50\/s configured, 25\/s learnt from being refused since \d{4}-.* UTC$/m,
    );
    expect(stdout).toMatch(/^ {2}The realm asked almoner to wait/m);
    expect(stdout).toContain('Realm town: 50/s configured\n');
    // What is learnt is no secret of this command.
    const status = await almoner(['status'], { env, cwd });
    expect(status.stdout).toContain('guild: The realm keeps refusing more than 25/s');

    expect(document(await run('--realm', 'guild', '--reset', '--json'))).toEqual({
      realm: 'guild',
      forgotten: expect.objectContaining({
        realm: 'guild',
        learnt: expect.objectContaining({ requests: 25 }),
      }),
    });
    expect(document(await run('--realm', 'guild', '--json'))).toMatchObject({
      realms: [asConfigured('guild', RATE)],
    });
    // It begins anew: what was suspected is forgotten as well.
    await history.requests(26, 10_000, 20, 'refused');
    expect(await history.limit()).toBeNull();
  });

  test('a limit that headers say: of that realm alone, by its id as well as its name', async () => {
    await sayLimit(ledgerOf('town'), RATE, { requests: 10, windowMs: 2_000 }, null);
    expect(document(await run('--realm', '12', '--json'))).toMatchObject({
      realms: [
        {
          realm: 'town',
          learnt: { requests: 10, windowMs: 2_000, by: 'headers' },
          holdUntil: null,
          notes: ['The realm’s answers say that it allows 10/2s instead of 50/s; almoner keeps to it.'],
        },
      ],
    });
    expect((await run()).stdout).toContain('10/2s learnt from its answers’ headers since ');
    await run('--realm', 'guild', '--reset');
    expect(document(await run('--realm', 'town', '--json'))).toMatchObject({
      realms: [{ learnt: { requests: 10 } }],
    });
    const reset = await run('--realm', 'town', '--reset');
    expect(reset.stdout).toContain('Forgotten: The realm’s answers say that it allows 10/2s');
    expect(reset.stdout).toContain('Realm town is asked at 50/s again.');
  });

  test('of a realm without a rate: what headers say, and a hold', async () => {
    const ledger = ledgerOf('free');
    await sayLimit(ledger, null, { requests: 5, windowMs: 1_000 }, 60_000);
    expect(document(await run('--realm', 'free', '--json'))).toMatchObject({
      realms: [{ configured: null, learnt: { requests: 5, by: 'headers' }, holdUntil: expect.any(String) }],
    });
    await run('--realm', 'free', '--reset');
    expect(document(await run('--realm', 'free', '--json'))).toMatchObject({
      realms: [asConfigured('free', null)],
    });
  });

  test.each([
    [['--realm', 'nowhere'], 'ALM_CONFIG_REALM_UNKNOWN'],
    [['--realm', 'nowhere', '--reset'], 'ALM_CONFIG_REALM_UNKNOWN'],
    // Forgetting is said of one realm.
    [['--reset'], 'ALM_CONFIG_REALM_AMBIGUOUS'],
  ])('%j is refused', async (args, code) => {
    const ran = await run(...args, '--json');
    expect([ran.status, document(ran)]).toMatchObject([2, { error: { code } }]);
  });
});
