import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAlmoner } from '../../../src/library/open.js';
import { textField } from '../../support/document.js';
import {
  BOTH,
  desk,
  endAudited,
  imported,
  linesOf,
  paid,
  startAudited,
  trail,
  world,
} from '../../support/program/audited-world.js';
import { until } from '../../support/until.js';

/** The command line, the desk and the library leave the same line. */
beforeAll(startAudited, 120_000);
afterAll(endAudited);

describe('each way leaves the same line', { timeout: 120_000 }, () => {
  type Way = (ref: { id: string; dead: string }) => Promise<unknown>;
  const post = (path: string, body: object) => desk.call(path, { method: 'POST', body });
  const command = (...args: string[]) => world.run(...args, '--realm', 'town');
  const withLibrary = async (
    act: (almoner: Awaited<ReturnType<typeof openAlmoner>>) => Promise<unknown>,
    more: NodeJS.ProcessEnv = {},
  ) => {
    const env = { ...world.env, ...more };
    const almoner = await openAlmoner({ cwd: world.folder, env, realm: 'town' });
    await act(almoner).finally(() => almoner.close());
  };
  const WAYS: Readonly<Record<string, Readonly<Record<string, Way>>>> = {
    pause: {
      ada: ({ id }) => command('pause', id, '--reason', 'wait'),
      olga: ({ id }) => post(`/api/batches/${id}/pause`, { reason: 'wait' }),
      library: ({ id }) => withLibrary((almoner) => almoner.pause(id, { reason: 'wait' })),
    },
    cancel: {
      ada: ({ id }) => command('cancel', id, '--reason', 'wrong'),
      olga: ({ id }) => post(`/api/batches/${id}/cancel`, { reason: 'wrong' }),
      library: ({ id }) => withLibrary((almoner) => almoner.cancel(id, { reason: 'wrong' })),
    },
    discard: {
      ada: ({ dead }) => command('dead', 'discard', '--batch', dead, '--reason', 'left'),
      olga: ({ dead }) => post('/api/dead/discard', { batch: dead, expect: 2, reason: 'left' }),
    },
    retry: {
      ada: ({ dead }) => command('dead', 'retry', '--batch', dead, '--reason', 'joined'),
      olga: ({ dead }) => post('/api/dead/retry', { batch: dead, expect: 2, reason: 'joined' }),
    },
  };

  test.each(Object.keys(WAYS))('%s', async (step) => {
    const told: object[] = [];
    for (const [way, act] of Object.entries(WAYS[step] ?? {})) {
      const [open, dead] = [await imported(), await paid('town', '404')];
      const ids = { id: open.id, dead: dead.id };
      const before = (await trail()).entries.length;
      await act(ids);
      // The desk's tasks go on after the answer.
      await until('the line', async () => (await trail()).entries.length > before);
      const [{ at: _, ...one } = { at: '' }] = (await trail()).entries;
      expect((await trail()).entries).toHaveLength(before + 1);
      expect(one).toMatchObject({ who: way === 'library' ? 'ada' : way });
      told.push({
        ...JSON.parse(JSON.stringify(one).replaceAll(open.id, 'B').replaceAll(dead.id, 'D')),
        who: '',
      });
    }
    expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(told[0]).toMatchObject({ ...BOTH, why: expect.any(String) });
  });

  test('a program with a token acts in the name of its owner', async () => {
    const { id } = await imported();
    const env = { ALMONER_TOKEN: desk.tokens.operator };
    const lines = await linesOf(() => withLibrary((almoner) => almoner.pause(id), env));
    expect(lines).toMatchObject([{ who: 'olga', what: `paused batch ${id}`, batch: id }]);
  });

  test('import', async () => {
    const told: object[] = [];
    const text = (reference: string) => `member,tokens,reference\n1,5,${reference}/1\n2,7,${reference}/2\n`;
    const ways = [
      async () => {
        await world.file('same.csv', text('cli'));
        textField(await command('import', 'same.csv', '--yes', '--json'), 'batch');
      },
      async () => {
        const body = text('desk');
        const reply = await desk.call('/api/uploads?name=same.csv', { method: 'POST', body });
        const { upload } = JSON.parse(reply.text);
        await post(`/api/uploads/${upload}/start`, { realm: 'town', rows: 2, tokens: '12' });
      },
      () =>
        withLibrary(async (almoner) => {
          await world.file('same.csv', text('library'));
          await almoner.enqueue({ file: 'same.csv' });
        }),
    ];
    for (const way of ways) {
      const lines = (await linesOf(way)).filter(({ what }) => !what.startsWith('uploaded'));
      expect(lines).toHaveLength(1);
      told.push(...lines.map(({ who: _, batch: __, ...one }) => one));
    }
    expect(told).toEqual(ways.map(() => ({ what: 'import of same.csv: 2 rows', why: null, ...BOTH })));
  });
});
