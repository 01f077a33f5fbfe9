import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRaisable } from '../../src/operations/doubts/resolve.js';
import { parseFaults } from '../../src/realm/server/faults.js';
import { document, field, textField } from '../support/document.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { begun, feedAll, sendAs } from '../support/ledger/order-moves.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

/** A realm that honours keys, applies every change and never lets an answer through: unknown for a day. */

const bench = ledgersOnRedis();
let world: Program;
let batch: string;
beforeAll(async () => {
  world = await Program.start({
    members: [{ member: '1', tokens: 100 }],
    faults: parseFaults(['reset-after:1']),
    env: { ALMONER_OPERATOR: 'ada' },
  });
  await world.file('pay.csv', 'member,tokens\n1,5\n1,6\n');
  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  await until('both to be unknown', async () => {
    const { stdout } = await world.run('status', '--json');
    return stdout.includes('"unknown":2');
  });
  run.child.kill('SIGTERM');
  expect(await run.ended).toBe(130);
  batch = textField(await world.run('status', 'last', '--json'), 'batch');
}, 120_000);
afterAll(() => world.end());

const raise = (...args: string[]) => world.run('doubt', 'raise', ...args);

describe('almoner doubt raise', { timeout: 120_000 }, () => {
  it('wants a reason and orders, and shows an unknown before it is raised', async () => {
    expect((await raise(`${batch}-1`)).status).toBe(2);
    expect((await raise('--reason', 'x')).status).toBe(2);
    const shown = await world.run('doubt', 'show', `${batch}-1`);
    expect([shown.status, shown.stdout]).toEqual([0, expect.stringContaining('unknown: ')]);
    expect(shown.stdout).toContain(`almoner doubt raise ${batch}-1 --reason`);
  });

  it('turns an unknown order into a doubt, with person and reason, and sends nothing', async () => {
    const raised = await raise(`${batch}-1`, '--reason', 'the realm is gone', '--json');
    expect([raised.status, document(raised)]).toMatchObject([
      0,
      { raised: [`${batch}-1`], missed: [], batches: [{ batch, counts: { doubt: 1, unknown: 1 } }] },
    ]);
    expect(field(await world.run('doubt', 'list', '--json'), 'orders')).toMatchObject([
      {
        order: `${batch}-1`,
        state: 'doubt',
        class: 'ALM_SEND_RAISED',
        message: expect.stringContaining('gone'),
      },
    ]);
    expect(document(await world.run('doubt', 'show', `${batch}-1`, '--json'))).toMatchObject({
      state: 'doubt',
      sent: { key: `${batch}-1.1` },
    });
    const again = await raise(`${batch}-1`, '--reason', 'x');
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('in doubt already')]);
    const person = await raise(`${batch}-2`, '--reason', 'the realm is gone');
    expect([person.status, person.stdout]).toEqual([
      0,
      expect.stringContaining(`Next: almoner doubt show ${batch}-2`),
    ]);
    // Nothing is left to find out: the interrupted run is done, and a person decides.
    expect(field(await world.run('status', batch, '--json'), 'state')).toBe('done');
    expect(await world.applied()).toHaveLength(2);
  });

  it('refuses orders that are not unknown: being sent, planned or paid', async () => {
    const raising = await sealed(await bench.ledger(), [{}, {}, {}, {}, {}]);
    await feedAll(raising);
    await sendAs(raising, 1, 'u');
    await begun(raising, 2, { session: 'worker-7' });
    await sendAs(raising, 3, 'P');
    await sendAs(raising, 5, 'D');
    const places = [1, 2, 3, 4, 5].map((index) => ({ ref: raising.ref, index }));
    await expect(checkRaisable(places)).rejects.toMatchObject({
      code: 'ALM_BATCH_DECISIONS',
      details: [
        expect.stringContaining('is being sent by session worker-7'),
        expect.stringContaining('-3 is paid, not unknown'),
        expect.stringContaining('-4 is planned, not unknown'),
      ],
    });
    expect(await checkRaisable(places.filter(({ index }) => index === 1 || index === 5))).toEqual([
      { ref: raising.ref, index: 1 },
    ]);
  });
});
