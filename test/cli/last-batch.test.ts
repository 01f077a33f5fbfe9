import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** `last` with two realms in the ledger: reading commands use the newest batch, changing commands need a realm. */
let world: Program;
let [town, village]: [string, string] = ['', ''];
beforeAll(async () => {
  world = await Program.start({ members: [{ member: '1', tokens: 100 }] });
  await world.file('pay.csv', 'member,tokens\n1,5\n');
  town = textField(await world.run('import', 'pay.csv', '--yes', '--json'), 'batch');
});
afterAll(() => world.end());

const inVillage = (...args: string[]) =>
  almoner(args, { cwd: world.folder, env: { ...world.env, ALMONER_REALM_ID: 'village' } });

describe('last', { timeout: 120_000 }, () => {
  it('is the newest batch where there is one realm, whatever was rehearsed since', async () => {
    expect((await world.run('rehearse', 'pay.csv')).status).toBe(0);
    await world.file('later.csv', 'member,tokens\n1,6\n');
    const later = textField(await world.run('import', 'later.csv', '--yes', '--json'), 'batch');
    expect(document(await world.run('pause', 'last', '--json'))).toMatchObject({ batch: later });
    expect(document(await world.run('cancel', 'last', '--json'))).toMatchObject({ batch: later });
    town = later;
  });

  it('never selects a batch of another realm for a change, and names the candidates', async () => {
    village = textField(await inVillage('import', 'pay.csv', '--yes', '--json'), 'batch');
    for (const args of [
      ['pause', 'last'],
      ['resume', 'last'],
      ['cancel', 'last'],
      ['undo', 'last'],
      ['dead', 'retry', '--batch', 'last'],
      ['dead', 'discard', '--batch', 'last', '--reason', 'x'],
      ['doubt', 'resolve', 'last-1', '--paid', '--reason', 'x'],
      ['doubt', 'resolve', '--batch', 'last', '--paid', '--reason', 'x'],
    ]) {
      const ran = await world.run(...args, '--json');
      expect([args, ran.status, document(ran)]).toMatchObject([
        args,
        2,
        {
          error: {
            code: 'ALM_BATCH_AMBIGUOUS',
            details: [`${village} (realm village)`, `${town} (realm town)`],
            next: expect.stringContaining('--realm'),
          },
        },
      ]);
    }
    expect(document(await world.run('status', village, '--json'))).toMatchObject({ state: 'planned' });
  });

  it('is of the one realm that is named, and for looking of all', async () => {
    const paused = await inVillage('pause', 'last', '--realm', 'village', '--json');
    expect(document(paused)).toMatchObject({ batch: village, state: 'paused' });
    expect(document(await world.run('status', 'last', '--json'))).toMatchObject({ batch: village });
  });
});
