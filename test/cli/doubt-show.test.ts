import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFaultDice, parseFaults } from '../../src/realm/server/faults.js';
import { document, textField } from '../support/document.js';
import { Program } from '../support/program/program.js';

/** One order is paid, the next is applied and its answer cut off; reads of the member come through. */

const FAULT = 'reset-after:0.5';
/** The requests in their order: both writes, the read when the doubt arises, the reads of `doubt show`. */
const CUT = [false, true, false, false, false, false];

let world: Program;
let batch: string;
beforeAll(async () => {
  world = await Program.start({
    members: [{ member: '1', tokens: 100 }],
    faults: parseFaults([FAULT], seedFor(CUT)),
    profile: { currencies: ['gold'] },
    env: { ALMONER_CERTAINTY: 'manual' },
  });
  await world.file('pay.csv', 'member,tokens\n1,5\n1,6\n');
  const ran = await world.run('run', 'pay.csv', '--yes', '--in-order', '--json');
  expect([ran.status, document(ran)]).toMatchObject([4, { counts: { paid: 1, doubt: 1 } }]);
  batch = textField(ran, 'batch');
  await world.file('later.csv', 'member,tokens,reference\n1,7,later\n');
  await world.run('import', 'later.csv', '--yes');
  await world.file('gold.csv', 'member,tokens,reference\n1,8,gold\n');
  await world.run('import', 'gold.csv', '--yes', '--currency', 'gold');
}, 120_000);
afterAll(() => world.end());

function seedFor(cut: readonly boolean[]): number {
  for (let seed = 1; ; seed++) {
    const dice = createFaultDice(parseFaults([FAULT], seed), () => 0);
    if (cut.every((wanted) => (dice.next().injected !== null) === wanted)) return seed;
  }
}

describe('almoner doubt show', { timeout: 120_000 }, () => {
  it('puts the balances side by side, names later orders in its currency and what to look for upstream', async () => {
    const shown = await world.run('doubt', 'show', `${batch}-2`, '--json');
    expect([shown.status, document(shown)]).toMatchObject([
      0,
      {
        order: `${batch}-2`,
        state: 'doubt',
        sent: { key: `${batch}-2.1`, minute: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/) },
        members: [
          {
            member: '1',
            role: 'member',
            change: '+6',
            lastSeen: { balance: '105', from: `answer to order ${batch}-1` },
            ifPaid: '111',
            ifUnpaid: '105',
            whenDoubtArose: '111',
            now: '111',
          },
        ],
        notRead: null,
        later: [{ op: 'credit', tokens: 7, state: 'planned' }],
        looksLike: 'paid',
      },
    ]);

    const person = await world.run('doubt', 'show', `${batch}-2`);
    for (const words of [
      'last balance seen before  105',
      'should be if paid         111',
      'should be if unpaid       105',
      'when the doubt arose      111',
      'now                       111',
      'Look upstream for: request id',
      'Later orders on them, which moved the balance too, or may:',
      / {2}give 7 to 1 {2}planned\n/,
      'It looks paid',
      `Next: almoner doubt resolve ${batch}-2`,
    ])
      expect(person.stdout).toMatch(words);
  });

  it('has nothing to say about an order that is not in doubt', async () => {
    const paid = await world.run('doubt', 'show', `${batch}-1`);
    expect([paid.status, paid.stderr]).toEqual([2, expect.stringContaining('is paid, not in doubt')]);
  });
});
