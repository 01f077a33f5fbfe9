import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { RecoveryReply, RecoveryStory } from '../../src/desk/api/recovery.js';
import { Notifier } from '../../src/desk/notify/notifier.js';
import { Outbox } from '../../src/desk/notify/outbox.js';
import { webhook } from '../../src/desk/notify/webhook.js';
import { findBatch } from '../../src/ledger/read/batches.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { arm, disarm } from '../../src/ledger/sessions/fence.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { keepLedgersOpen } from '../../src/operations/services/keep-open.js';
import { recovering } from '../../src/operations/services/recovery.js';
import { recoveryNotes } from '../../src/operations/services/recovery-state.js';
import { feed } from '../support/ledger/feed-one.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { openDesk, type TestDesk } from '../support/program/desk.js';
import { logged, outside } from '../support/program/outside.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

/** The page Recovery: what the desk shows for a realm that was rolled back, and the decisions that it accepts. */
let program: Program;
let desk: TestDesk;
beforeEach(async () => {
  program = await Program.start({ realm: 'embedded', env: { ALMONER_OPERATOR: 'tester' } });
  desk = await openDesk(program);
});
afterEach(async () => {
  await desk.close();
  await program.end();
});

async function imported(name: string): Promise<{ batch: string; ledger: RealmLedger }> {
  const body = `member,tokens,reference\n1,5,${name}/1\n2,7,${name}/2\n`;
  const sent = await desk.call(`/api/uploads?name=${name}`, { method: 'POST', body });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const confirmed = { rows: 2, tokens: '12' };
  const started = await desk.call(`/api/uploads/${upload}/start`, { method: 'POST', body: confirmed });
  const { batch } = z.object({ summary: z.object({ batch: z.string() }) }).parse(started.json()).summary;
  const { ledger } = await findBatch(desk.app.scripts, batch);
  return { batch, ledger };
}

async function opened(ledger: RealmLedger): Promise<void> {
  expect(await arm(ledger, (await readFence(ledger)).run, 0)).toMatchObject({ answer: 'armed' });
}

const found = () => ({ at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 });

async function rolledBack(ledger: RealmLedger): Promise<void> {
  await disarm(ledger, found(), 'anyway');
  await opened(ledger);
}

async function stories() {
  return RecoveryReply.parse((await desk.call('/api/recovery', { as: desk.tokens.viewer })).json()).realms;
}

async function storyWith(kind: string) {
  const [story] = await stories();
  const decision = story?.decisions.find((one) => one.kind === kind);
  if (story === undefined || decision === undefined) throw new Error(`no ${kind}: ${JSON.stringify(story)}`);
  return { story, shown: { kind: decision.kind, of: decision.of, shown: decision.does } };
}

const decide = (realm: string, body: object, as = desk.tokens.operator) =>
  desk.call(`/api/recovery/${realm}`, { method: 'POST', body, as });

const audit = async () =>
  z
    .object({ entries: z.array(z.looseObject({ what: z.string(), who: z.string() })) })
    .parse((await desk.call('/api/audit')).json())
    .entries.filter(({ what }) => /resumed realm|gave up|data folder/.test(what));

const batchOf = async (batch: string) => (await desk.call(`/api/batches/${batch}`)).json();

describe('first sends that wait after a rollback', () => {
  test('an operator resumes what was shown; a viewer may not; it is audited with the reason', async () => {
    const { batch, ledger } = await imported('may.csv');
    await opened(ledger);
    expect(await stories()).toMatchObject([
      {
        state: 'open',
        happened: 'The store has forgotten nothing that the journals here know of.',
        decisions: [],
        waiting: [],
      },
    ]);
    await rolledBack(ledger);
    await until('the card', async () => {
      const { overview } = await desk.server.desk.board.look();
      return overview.realms[0]?.waitsForPersonSince !== null;
    });
    const { story, shown } = await storyWith('resume');
    expect(story).toMatchObject({
      state: 'waiting for a person',
      waitsFor: [],
      waiting: [{ batch, source: 'may.csv', orders: 2, tokens: '12' }],
    });
    expect(shown.shown).toContain('This decision then starts 1 batch and all schedules');
    expect(await batchOf(batch)).toMatchObject({ waitsForRecovery: true, can: ['cancel', 'report'] });

    expect((await decide(story.realm, shown, desk.tokens.viewer)).status).toBe(403);
    expect((await decide('nowhere', shown)).status).toBe(404);
    expect((await storyWith('resume')).shown).toEqual(shown);
    expect(await audit()).toEqual([]);

    const done = await decide(story.realm, { ...shown, reason: 'looked at all' });
    expect(done.status, done.text).toBe(200);
    expect(RecoveryStory.parse(done.json())).toMatchObject({ state: 'open', decisions: [], waiting: [] });
    expect(await audit()).toMatchObject([
      {
        who: 'olga',
        what: `resumed realm ${story.realm} after a rollback of the store`,
        batch,
        why: 'looked at all',
      },
    ]);
    expect(await batchOf(batch)).toMatchObject({
      waitsForRecovery: false,
      can: ['pause', 'cancel', 'report'],
    });
    const trail = (await desk.call(`/api/batches/${batch}/audit`)).json();
    expect(JSON.stringify(trail)).toContain('"who":"olga","what":"resumed after a rollback of the store"');
    expect((await decide(story.realm, shown)).status).toBe(409);
  });

  test('another number of batches than was shown, or another decision, is refused and changes nothing', async () => {
    const { ledger } = await imported('may.csv');
    await opened(ledger);
    await rolledBack(ledger);
    const { story, shown } = await storyWith('resume');
    await imported('june.csv');
    await rolledBack(ledger);
    const refused = await decide(story.realm, shown);
    expect([refused.status, refused.json()]).toMatchObject([
      409,
      {
        error: { code: 'ALM_DESK_CHANGED', message: expect.stringContaining('2 batches and all schedules') },
      },
    ]);
    expect((await decide(story.realm, { ...shown, kind: 'accept-moved' })).status).toBe(409);
    expect((await decide(story.realm, { kind: 'retire', of: 'soon', shown: 'x' })).status).toBe(400);
    expect((await decide(story.realm, { ...shown, of: undefined })).status).toBe(400);
    expect(await stories()).toMatchObject([{ state: 'waiting for a person' }]);
    expect(await audit()).toEqual([]);
  });

  test('one notice with a link to the page, also where two batches wait and the desk is started anew', async () => {
    const { ledger } = await imported('may.csv');
    await imported('june.csv');
    await opened(ledger);
    await rolledBack(ledger);
    const { got, url } = await outside(() => ({ status: 200 }));
    const { logger } = logged();
    const { signal: stop } = new AbortController();
    const target = webhook({ name: 'all realms: webhook', url, secret: null });
    const { scripts } = desk.app;
    const outbox = new Outbox(scripts, { targets: [target], logger, stop });
    const start = () =>
      new Notifier({
        board: desk.server.desk.board,
        scripts,
        outbox,
        targets: () => [target],
        link: (path) => `https://desk.example${path}`,
        logger,
        stop,
        lookEveryMs: 20,
      });
    for (const _ of ['a desk', 'the desk started anew']) {
      await scripts.redis.del('almoner:notices');
      const notifier = start();
      await until('a look', async () => (await scripts.redis.exists('almoner:notices')) === 1);
      await until('every letter to be sent', async () => got.length > 0 && (await outbox.waiting()) === 0);
      await notifier.close();
    }
    const { overview } = await desk.server.desk.board.look();
    expect(overview.matters.map(({ event }) => event)).toEqual(['realm.after-rollback']);
    expect(got.map(({ body }) => JSON.parse(body))).toMatchObject([
      {
        type: 'realm.after-rollback',
        data: { batch: null, link: 'https://desk.example/recovery', next: expect.stringContaining('resume') },
      },
    ]);
  });
});

describe('a closed realm', () => {
  /** A session of a machine that cannot be asked from here. */
  async function lostSession(ledger: RealmLedger): Promise<Session> {
    const lost = await Session.open('worker', desk.app.config.dataFolder);
    onTestFinished(() => lost.close());
    await lost.register(ledger);
    const far = { machine: 'away', boot: 'another', socket: '/nowhere/x.sock', placeId: 'another' };
    const entry = JSON.stringify({ ...lost.entry, ...far });
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:sessions`, lost.id, entry);
    return lost;
  }

  test('shows what it waits for; giving a session up happens once, as shown, with the doubts it made', async () => {
    const { batch, ledger } = await imported('may.csv');
    await opened(ledger);
    await feed(ledger, (await findBatch(desk.app.scripts, batch)).no, 2, '');
    const lost = await lostSession(ledger);
    await disarm(ledger, found(), 'anyway');
    const { story, shown } = await storyWith('accept-missing');
    expect(story.state).toBe('closed');
    expect(story.waitsFor.join(' ')).toContain(`Session ${lost.id} (worker`);
    expect(shown.of).toBe(lost.id);
    expect(shown.shown).toContain('up to 2 orders (12 tokens)');
    const other = { ...shown, shown: shown.shown.replace('2 orders', '1 order') };
    expect((await decide(story.realm, other)).status).toBe(409);
    expect((await storyWith('accept-missing')).shown).toEqual(shown);

    const done = await decide(story.realm, shown);
    expect(done.status, done.text).toBe(200);
    expect(RecoveryStory.parse(done.json()).waitsFor.join(' ')).not.toContain(lost.id);
    expect(await audit()).toMatchObject([
      {
        who: 'olga',
        what: `gave up session ${lost.id} of realm ${story.realm} as lost`,
        orders: 2,
        tokens: '12',
      },
    ]);
    expect(await batchOf(batch)).toMatchObject({ summary: { counts: { doubt: 2 } } });
    expect((await decide(story.realm, shown)).status).toBe(409);
  });

  test('a decision that the journals here make another one is refused, and nothing is given up', async () => {
    const { batch, ledger } = await imported('may.csv');
    await opened(ledger);
    const restore = await photograph(ledger);
    const worker = await program.worker();
    const paid = z.object({ summary: z.object({ counts: z.object({ paid: z.literal(2) }) }) });
    await until('both to be paid', async () => paid.safeParse(await batchOf(batch)).success);
    await worker.stop();
    await restore();
    const lost = await lostSession(ledger);
    const { story, shown } = await storyWith('accept-missing');
    expect(shown.shown).toContain('2 orders (12 tokens)');
    // The journal of the worker that ended lies here: both orders are paid once it is merged.
    const refused = await decide(story.realm, shown);
    expect([refused.status, refused.json()]).toMatchObject([409, { error: { code: 'ALM_DESK_CHANGED' } }]);
    expect(paid.safeParse(await batchOf(batch)).success).toBe(true);
    expect((await storyWith('accept-missing')).shown.of).toBe(lost.id);
    expect(await audit()).toEqual([]);
  });

  test('its batch offers no resume that would be refused, and the folders of machines are not told', async () => {
    const { batch, ledger } = await imported('may.csv');
    await opened(ledger);
    const reason = {
      code: 'ALM_LEDGER_FOLDER_BEHIND',
      message: 'The folder /srv/almoner/data is old.',
      next: 'x',
    };
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', '', 'fenceReason', JSON.stringify(reason));
    const [story] = await stories();
    expect(story).toMatchObject({ state: 'closed', happened: 'The folder …/data is old.', waiting: [] });
    expect(await batchOf(batch)).toMatchObject({ waitsForRecovery: true, can: ['cancel', 'report'] });
  });
});

describe('the list of batches', () => {
  const notes = (realm?: string) => recoveryNotes(desk.app, realm);

  test('says that a realm is closed or waits for a person, also where it has no batch', async () => {
    const { ledger } = await imported('may.csv');
    expect(await notes()).toEqual([]);
    await opened(ledger);
    expect(await notes()).toEqual([]);
    await rolledBack(ledger);
    expect(await notes()).toEqual([expect.stringContaining('FIRST SENDS WAIT FOR A PERSON since 2')]);
    expect(await notes('another')).toEqual([]);
    const session = await Session.open('worker', desk.app.config.dataFolder);
    onTestFinished(() => session.close());
    await session.register(ledger);
    await disarm(ledger, found(), 'anyway');
    expect(await notes(ledger.realm.name)).toEqual([expect.stringContaining('THE LEDGER IS CLOSED')]);
  });

  test('a recovery that fails leaves no session that opening would wait for', async () => {
    const { ledger } = await imported('may.csv');
    await opened(ledger);
    const [profile] = desk.app.config.profiles;
    if (profile === undefined) throw new Error('no profile');
    const before = (await listSessions(ledger)).length;
    const failing = recovering(desk.app, profile, async ({ now }) => {
      await now();
      expect(await listSessions(ledger)).toHaveLength(before + 1);
      throw new Error('stopped on the way');
    });
    await expect(failing).rejects.toThrow('stopped on the way');
    expect(await listSessions(ledger)).toHaveLength(before);
  });
});

test('a desk without a worker opens a closed ledger, and offers the decision that is left', async () => {
  const { ledger } = await imported('alone.csv');
  await opened(ledger);
  await disarm(ledger, found(), 'anyway');
  expect(await stories()).toMatchObject([{ state: 'closed', decisions: [] }]);
  const stop = new AbortController();
  const opening = keepLedgersOpen(desk.app, stop.signal);
  await until('the decision', async () => (await stories())[0]?.decisions[0]?.kind === 'resume');
  expect(await stories()).toMatchObject([
    { state: 'waiting for a person', decisions: [{ kind: 'resume' }, { of: 'removed' }] },
  ]);
  // Closed again while it serves, as by a restart of the store.
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'another-server');
  await until('the ledger to be open', async () => (await readFence(ledger)).armed);
  stop.abort();
  await opening;
  expect(await listSessions(ledger)).toEqual([]);
});
