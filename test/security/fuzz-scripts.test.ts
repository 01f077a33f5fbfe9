import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../src/ledger/moves/put-block.js';
import { encodePlanBlock } from '../../src/ledger/plan-block.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { BY_NOBODY, encodePrepared } from '../../src/ledger/read/gate.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { type Argument, ScriptClient } from '../../src/ledger/script-client.js';
import { encodeManifest } from '../../src/ledger/views.js';
import { anyText, HOSTILE_ARGUMENTS } from '../support/hostile.js';
import {
  countersOf,
  ledgersOnRedis,
  manifestOf,
  planRow,
  START,
  sealed,
  type TestBatch,
} from '../support/ledger/ledgers-on-redis.js';
import { begun, claimFor, feedAll, held, settleAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { generated } from '../support/suites.js';

/**
 * Every script of the ledger, called through the real caller with one argument that no caller of ours would
 * pass: another batch's number, an index that is none, numbers of every shape. Whatever it answers, the books
 * tie afterwards and the store goes on. What a script must take on trust (an order's amount, its new record:
 * the plan is compressed and only the caller has read it) is left as it is.
 */
const LOOKED = '[{"id":"f","journal":"/j","machine":"m","sent":true}]';
const LEAVING = '{"id":"s","placeId":"f","journal":"/j","machine":"m"}';
const bench = ledgersOnRedis();

/** Calls as they are made, the arguments that may be attacked marked by their place. */
type Call = {
  readonly name: string;
  readonly args: readonly Argument[];
  readonly open: readonly number[];
};

/** The two scripts that take lists: the places that may be attacked are those inside an order. */
type World = {
  readonly ledger: RealmLedger;
  readonly batch: TestBatch;
  readonly calls: readonly Call[];
  readonly lists: readonly {
    readonly name: string;
    readonly head: readonly Argument[];
    readonly order: readonly unknown[];
    readonly open: readonly number[];
  }[];
};

/** One batch with an order in every state, one that nobody has touched, and one that is being imported. */
async function world(): Promise<World> {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [
    { reference: 'rule:daily:2026-03-01:1' },
    { reference: 'rule:daily:2026-03-01:2' },
    {},
    {},
    {},
    {},
    { reference: 'g' },
    { to: '77' },
    { invalid: true },
  ]);
  const other = await sealed(ledger, [{}, { reference: 'z' }], { id: 'other' });
  const half = await openBatch(ledger, {
    content: 'c'.repeat(64),
    id: batchId('half'),
    importer: 'im',
    createdAt: START,
  });
  const block = encodePlanBlock([planRow({}, 1)]);
  const claims = blockClaims(1, [planRow({}, 1)], () => undefined);
  await putBlock(ledger, { no: half.no, importer: 'im', block: 0 }, block, claims);
  await feedAll(batch);
  for (const [index, code] of [
    [1, 'P'],
    [2, 'R'],
    [3, 'X'],
    [4, 'u'],
    [5, 'D'],
  ] as const)
    await settleAs(batch, index, code, await begun(batch, index));
  await begun(batch, 6);
  const hold = await held(batch, 8);
  const { run, era, seq } = await readFence(ledger);
  const { no } = batch;
  const detail = JSON.stringify({
    event: 'discarded',
    at: START,
    who: 'ada',
    why: 'x',
    nonce: Math.random(),
  });
  const audit = JSON.stringify({ at: START, who: 'ada', what: 'x', why: null });
  const why = JSON.stringify({ code: 'ALM_BATCH_REFUSALS', message: 'x', next: 'x' });
  const retry = JSON.stringify({ orders: 1, tokens: '5', indexes: ['2'] });
  const about = JSON.stringify({ batch: batch.ref.id, attempt: 'nonce-4', hold: '', era: '' });
  const facts = JSON.stringify({ ref: null, undoes: null, balance: '', tries: null });
  const moved = JSON.stringify({
    fits: no,
    misfit: false,
    archived: null,
    content: 'debt',
    ref: null,
    undoes: null,
    members: [],
    unknown: 'u',
    honoured: true,
    answered: true,
    session: 's',
    settleMs: 1_000,
    requests: 1,
    retries: 0,
    limited: 0,
    order: {
      op: 'credit',
      row: '[]',
      members: ['1'],
      account: null,
      replaces: null,
      sentAt: 1,
      manifest: '{}',
    },
  });
  const turned = JSON.stringify({
    batch: batch.ref.id,
    tries: 1,
    status: '404',
    evidence: '',
    slice: 0,
    ref: null,
    class: 'x',
    silent: false,
    unknowns: 20,
    refusals: { reason: why, inARow: 20, beforePaid: 5 },
  });
  const manifest = encodeManifest(manifestOf(ledger, batchId('half'), [planRow({}, 1)]));
  const { planned } = countersOf([planRow({}, 1)]);
  const counters = JSON.stringify({ 'c:p': String(planned.count), 't:p': String(planned.tokens) });
  const sent = START.toString(36);
  await ledger.scripts.script('register', ledger.keyPrefix, ['worker', '{}', '', '', '']);
  const gone = JSON.stringify([[no, '6', '5 c ', detail, 'u']]);
  const calls: Call[] = [
    { name: 'accept-lost', args: ['worker', '{"who":"ada","at":1}', gone], open: [1, 3] },
    { name: 'accept-removed', args: ['{}', '', 'folder', ''], open: [2, 3] },
    {
      name: 'answer-slot',
      args: ['10', '1000', '0', '0', '', '', '', '', ''],
      open: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    },
    {
      name: 'approval',
      args: ['retry', 'retry', no, batch.ref.id, 'ben', 'f'.repeat(64), '1000', audit, retry, '0', ''],
      open: [1, 2, 3, 4, 5, 6, 7, 10, 11],
    },
    { name: 'carry-references', args: ['', 'references', '{}', Buffer.alloc(48)], open: [1, 2] },
    { name: 'count-dispatched', args: ['', '', '1000', '9'], open: [1, 2] },
    { name: 'feed-list', args: ['', '', '9'], open: [1, 2] },
    { name: 'note-change', args: [no], open: [1] },
    { name: 'open-batches', args: [], open: [] },
    { name: 'overdue', args: ['', '', '1000', '1000', '9', '1'], open: [1, 2, 6] },
    { name: 'read-gate', args: [other.no], open: [1] },
    { name: 'archive-batch', args: [other.no, '0', 'f'.repeat(64), '', '[]'], open: [1, 2] },
    { name: 'arm', args: [run, 'e2', '0', 'wait'], open: [1, 4] },
    {
      name: 'conclude',
      args: [no, '4', 'X', about, '5 c ', 'o', detail, '0', '', facts],
      open: [1, 2, 4, 6, 8],
    },
    {
      name: 'disarm',
      args: [String(seq), '{"at":1,"seen":1,"found":1,"by":"x"}', 's', '', '9'],
      open: [3, 4],
    },
    { name: 'discard', args: [no, '2', detail], open: [1, 2] },
    { name: 'drop-batch', args: [half.no, 'im', '0', '{"refs":[],"replaces":[]}', '0'], open: [1, 2, 3, 5] },
    { name: 'feed', args: [JSON.stringify([[other.no, 10]]), '10', '', '0', '', 's', '0'], open: [2, 3] },
    { name: 'fence', args: ['s'], open: [1] },
    { name: 'fold-day', args: ['2026-03-01'], open: [1] },
    { name: 'find-spent', args: [Buffer.alloc(28)], open: [1] },
    { name: 'free-slots', args: ['s'], open: [1] },
    {
      name: 'give-up',
      args: [no, detail, '4', '5 c ', '', '', '8', '5 t ', '9008 77', '0:61:x'],
      open: [1, 3, 5, 6, 7, 9, 10],
    },
    { name: 'judge-replaced', args: [JSON.stringify([[no, '2', '1']])], open: [1] },
    { name: 'leave', args: ['s', String(seq), era, '', '', '0', LEAVING], open: [1, 2, 3, 4] },
    {
      name: 'merged',
      args: [run, 's', '0', '', '0', LOOKED, '1', '1', '1', '1', 'wait'],
      open: [1, 2, 3, 11],
    },
    { name: 'note-clock-step', args: [String(START), '1000', '60000'], open: [1, 2, 3] },
    { name: 'note-scheduled', args: ['daily', '{"at":1}', missedTimes(1)], open: [1] },
    { name: 'note-missed', args: ['daily', missedTimes(2)], open: [1] },
    { name: 'dismiss-missed', args: ['daily', '{"who":"ada"}', '2'], open: [1, 2, 3] },
    { name: 'open-batch', args: ['d'.repeat(64), 'fresh', 'im', String(START), '', '', ''], open: [3, 4] },
    { name: 'orphan', args: [no, '6', 'worker', '5 c ', detail, 'u', '', 'nonce-6'], open: [1, 2, 3, 8] },
    { name: 'probe', args: ['1000', '60000', why], open: [1, 2] },
    { name: 'put-block', args: [half.no, 'im', '0', block, '1', Buffer.alloc(0), ''], open: [1, 2, 3, 5] },
    { name: 'read-pace', args: ['10', '1000'], open: [1, 2] },
    { name: 'redispatch', args: [no, '', '7', '8'], open: [1, 2, 3, 4] },
    {
      name: 'register',
      args: ['s', '{}', '1000 500', '', 'folder'],
      open: [1, 2, 3, 4, 5],
    },
    { name: 'note-closed', args: [why], open: [1] },
    { name: 'note-looked', args: ['', '[]', '0123'], open: [1, 3] },
    { name: 'note-position', args: ['folder', '7', '{"seq":7}'], open: [1, 2] },
    { name: 'resume-after-rollback', args: [detail, '0'], open: [1, 2] },
    { name: 'retire-folders', args: ['', 'f', '9'], open: [1, 2, 3] },
    { name: 'release-references', args: [no, Buffer.alloc(15), '1'], open: [1, 3] },
    { name: 'retry', args: [no, '3', '5 c ', detail, '', '', ''], open: [1, 2] },
    {
      name: 'replay',
      args: [batch.ref.id, '7', 'n', '1', '5 c ', `P|1|1|0|200|5|${sent}|1|a|`, '0', detail, moved],
      open: [1, 2, 3, 4, 7],
    },
    {
      name: 'seal-batch',
      args: [
        half.no,
        'im',
        manifest,
        counters,
        '',
        '1',
        audit,
        '',
        '',
        '',
        '',
        '',
        '',
        encodePrepared(BY_NOBODY, ''),
        '',
        '(file)',
      ],
      open: [1, 2],
    },
    { name: 'steer', args: [no, 'pause', audit, why, '', '*', '', ''], open: [1, 2, 6, 7] },
    {
      name: 'turn-down',
      args: [String(seq), era, no, '8', '5 t ', 'w', 'R', hold, '0', detail, turned],
      open: [1, 2, 3, 4, 6, 8, 9],
    },
    {
      name: 'take-slot',
      args: ['10', '1000', '5000', '0', '1', 's', 'n', ''],
      open: [1, 2, 3, 4, 5, 6, 7, 8],
    },
  ];
  return { ledger, batch, calls, lists: await recorded(batch, 7) };
}

/** Takes down the lists as our own functions make them, and lets them through. */
class Listening extends ScriptClient {
  readonly heard: { name: string; head: readonly Argument[]; orders: readonly unknown[] }[] = [];

  override orders(name: string, realm: string, head: readonly Argument[], orders: readonly unknown[]) {
    this.heard.push({ name, head, orders });
    return super.orders(name, realm, head, orders);
  }
}

async function recorded(batch: TestBatch, index: number): Promise<World['lists']> {
  const ear = new Listening(bench.redis().client(), 10_000, () => {});
  const heard = { ...batch, ledger: openLedger(ear, batch.ledger.realm) };
  await claimFor(heard, index);
  const of = await begun(heard, index);
  await settleAs(heard, index, 'w', of);
  // Members and amount of an order, and its new record, are the caller's word.
  const open: Partial<Record<string, number[]>> = {
    claim: [1, 2, 3],
    'begin-sending': [1, 2, 3, 5, 7, 8, 10, 11],
    settle: [1, 2, 3, 6, 8, 9, 10, 11, 12],
  };
  return ear.heard.flatMap(({ name, head, orders: [order] }) =>
    Array.isArray(order) ? [{ name, head, order, open: open[name] ?? [] }] : [],
  );
}

async function answers(work: Promise<unknown>, what: string): Promise<void> {
  const late = sleep(15_000, 'late', { ref: false });
  const end = await Promise.race([
    work.then(
      () => 'done',
      () => 'refused',
    ),
    late,
  ]);
  if (end === 'late') {
    await bench.redis().kill();
    throw new Error(`the store hangs in ${what}`);
  }
}

function missedTimes(at: number): string {
  return JSON.stringify({ zone: 'UTC', older: 0, times: [[at, '2026-11', 'x']] });
}

async function strayBatches(ledger: RealmLedger): Promise<string[]> {
  const known = new Set(Object.values(await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:batches`)));
  const keys = await ledger.scripts.redis.keys(`${ledger.keyPrefix}:b:*`);
  const numbers = keys.map((key) => key.slice(ledger.keyPrefix.length + 3).split(':')[0] ?? '');
  // What holds references of payments that no batch has is in no list (see carry-references, replay).
  return numbers.filter((no) => !known.has(no) && !/^(c\d+$|m)/.test(no));
}

describe('hostile arguments', () => {
  test('every script is attacked', async () => {
    const { calls, lists } = await world();
    const scripts = readdirSync('src/ledger', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.lua') && !path.startsWith('includes/'))
      // Notes have keys of their own and move no order.
      .filter((path) => readFileSync(join('src/ledger', path), 'utf8').includes('KEYS[1] the realm\n'))
      .map((path) => basename(path, '.lua'));
    expect([...calls, ...lists].map(({ name }) => name).sort()).toEqual(
      expect.arrayContaining(scripts.sort()),
    );
  });

  test('the calls themselves leave the books in order', async () => {
    for (const at of (await world()).calls.keys()) {
      const { ledger, calls } = await world();
      const call = calls[at];
      if (call === undefined) continue;
      await ledger.scripts.script(call.name, ledger.keyPrefix, call.args);
      expect([call.name, await tieUp(ledger)]).toEqual([call.name, []]);
    }
  });

  test('a batch is not sealed with rows that are no count: the store would count down for ever', async () => {
    const { ledger, calls } = await world();
    const seal = calls.find(({ name }) => name === 'seal-batch');
    for (const rows of ['-1e308', '-1', '1e3', 'nan', '', '0x1'])
      await expect(
        ledger.scripts.script('seal-batch', ledger.keyPrefix, seal?.args.with(5, rows) ?? []),
      ).rejects.toThrow('rows');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a batch does not begin at what is no time: the lists of batches are in its order', async () => {
    const { ledger, calls } = await world();
    const open = calls.find(({ name }) => name === 'open-batch');
    for (const createdAt of ['', '1e308', '-1', 'nan', '0x1', '1'.repeat(16)])
      await expect(
        ledger.scripts.script('open-batch', ledger.keyPrefix, open?.args.with(3, createdAt) ?? []),
      ).rejects.toThrow('createdAt');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.for([...HOSTILE_ARGUMENTS, '10'])('an attempt is put back into no row %j', async (index) => {
    const { ledger, calls } = await world();
    const replay = calls.find(({ name }) => name === 'replay');
    await answers(ledger.scripts.script('replay', ledger.keyPrefix, replay?.args.with(1, index) ?? []), 'it');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('leave the books in order, whatever is answered, and the store goes on', async () => {
    const choice = fc.record({
      call: fc.nat(),
      place: fc.nat(),
      value: fc.oneof(fc.constantFrom(...HOSTILE_ARGUMENTS), anyText(20), fc.integer().map(String)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(choice, { minLength: 1, maxLength: 4 }), async (choices) => {
        const { ledger, calls, lists } = await world();
        for (const { call, place, value } of choices) {
          const target = [...calls, ...lists][call % (calls.length + lists.length)];
          if (target === undefined || target.open.length === 0) continue;
          // Sessions and nonces are made here, of letters and digits; the sign that parts a record's fields is in none.
          if ('order' in target && value.includes('|')) continue;
          const at = (target.open[place % target.open.length] ?? 1) - 1;
          const what = `${target.name} with ${JSON.stringify(value).slice(0, 60)} as ${at + 1}`;
          if ('args' in target)
            await answers(
              ledger.scripts.script(target.name, ledger.keyPrefix, target.args.with(at, value)),
              what,
            );
          else
            await answers(
              ledger.scripts.orders(target.name, ledger.keyPrefix, target.head, [
                target.order.with(at, value),
              ]),
              what,
            );
          expect([what, await tieUp(ledger)]).toEqual([what, []]);
          expect([what, await strayBatches(ledger)]).toEqual([what, []]);
        }
      }),
      // A failure is told at once: to make it smaller takes longer than the test may.
      { ...generated(12, 60), endOnFailure: true },
    );
    expect(await bench.redis().client().ping()).toBe('PONG');
  });
});
