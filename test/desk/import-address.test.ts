import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startDesk } from '../support/program/desk.js';
import { tempFolder } from '../support/temp-folder.js';

/** A desk with one realm id at three addresses; nothing is sent to any of them. */
async function startAtThree() {
  const file = join(await tempFolder(), 'almoner.config.yaml');
  const realms = ['first', 'second', 'third'].map((name) => [
    name,
    { baseUrl: `https://${name}.example`, realmId: 'club', keyEnv: `${name.toUpperCase()}_KEY` },
  ]);
  await writeFile(file, JSON.stringify({ realms: Object.fromEntries(realms) }));
  const desk = await startDesk({ env: { ALMONER_CONFIG: file } });
  onTestFinished(() => desk.close());
  let members = 0;
  return {
    async upload(): Promise<string> {
      members += 1;
      const body = `member,tokens\n${members},3\n`;
      const reply = await desk.call('/api/uploads?name=pay.csv', { method: 'POST', body });
      return z.object({ upload: z.string() }).parse(reply.json()).upload;
    },
    plan: (id: string, body: object) => desk.call(`/api/uploads/${id}/plan`, { method: 'POST', body }),
    start: (id: string, body: object) =>
      desk.call(`/api/uploads/${id}/start`, { method: 'POST', body: { rows: 1, tokens: '3', ...body } }),
  };
}

test('an address is meant beside those that were shown, also where the preview was pushed out', async () => {
  const { upload, plan, start } = await startAtThree();
  expect((await start(await upload(), { realm: 'first' })).status).toBe(200);
  const moved = { realm: 'third', newAddress: true };
  const shown = await upload();
  expect((await plan(shown, { realm: 'third' })).json()).toMatchObject({ faultCount: 1 });
  expect((await plan(shown, moved)).json()).toMatchObject({
    faultCount: 0,
    warnings: [{ code: 'ALM_PLAN_OTHER_ADDRESS', message: expect.not.stringContaining('second.example') }],
  });
  expect((await start(await upload(), { realm: 'second', newAddress: true })).status).toBe(200);
  for (let others = 0; others < 2; others++) await plan(await upload(), moved);
  const stale = await start(shown, moved);
  expect([stale.status, stale.json()]).toMatchObject([409, { error: { code: 'ALM_PLAN_CHANGED' } }]);
  expect((await plan(shown, moved)).text).toContain('second.example');
  expect((await start(shown, moved)).status).toBe(200);
});

test('what was shown in one currency is not begun in another, nor from a second upload of the file', async () => {
  const file = join(await tempFolder(), 'almoner.config.yaml');
  const main = { baseUrl: 'https://main.example', realmId: 'club', keyEnv: 'MAIN_KEY', currencies: ['gold'] };
  await writeFile(file, JSON.stringify({ realms: { main } }));
  const desk = await startDesk({ env: { ALMONER_CONFIG: file } });
  onTestFinished(() => desk.close());
  const upload = async () => {
    const reply = await desk.call('/api/uploads?name=pay.csv', {
      method: 'POST',
      body: 'member,tokens\n1,3\n',
    });
    return z.object({ upload: z.string() }).parse(reply.json()).upload;
  };
  const start = (id: string, body: object) =>
    desk.call(`/api/uploads/${id}/start`, { method: 'POST', body: { rows: 1, tokens: '3', ...body } });
  const first = await upload();
  const reply = await desk.call(`/api/uploads/${first}/plan`, { method: 'POST', body: { currency: 'gold' } });
  expect(reply.json()).toMatchObject({ currency: 'gold' });
  const { shown } = z.object({ shown: z.string() }).parse(reply.json());
  for (const id of [first, await upload()]) expect((await start(id, { shown })).status).toBe(409);
  const begun = await start(await upload(), { shown, currency: 'gold' });
  expect([begun.status, begun.json()]).toMatchObject([200, { summary: { currency: 'gold' } }]);
});

test('what was shown with one set time is not begun with another, also where its preview was pushed out', async () => {
  const { upload, plan, start } = await startAtThree();
  const at = (hours: number) =>
    new Date(Date.now() + hours * 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const [evening, dayAfter] = [at(5), at(29)];
  const file = await upload();
  const planned = (await plan(file, { realm: 'first', begin: evening })).json();
  const { shown } = z.object({ shown: z.string() }).parse(planned);
  for (let others = 0; others < 2; others++) await plan(await upload(), { realm: 'first' });
  const moved = await start(file, { realm: 'first', begin: dayAfter, shown });
  expect([moved.status, moved.json()]).toMatchObject([409, { error: { code: 'ALM_DESK_CHANGED' } }]);
  expect((await start(file, { realm: 'first', begin: evening, shown })).status).toBe(200);
});
