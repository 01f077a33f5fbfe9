import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Tokens } from '../../../src/operations/people/tokens.js';
import { listRules } from '../../../src/operations/rules/list.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import type { App } from '../../../src/runtime/app.js';
import { Program } from '../../support/program/program.js';

/** What an approver is shown as changed is held against what two people approved, not against what one put there with a configuration of their own. */
let program: Program;
let strict: App;
let lax: App;
beforeAll(async () => {
  program = await Program.start({ realm: 'embedded', env: { K: 'k'.repeat(40) } });
  const realm = { baseUrl: 'http://127.0.0.1:9', realmId: 'town', keyEnv: 'K', certainty: 'idempotent' };
  const open = async (name: string, profile: object) => {
    const text = JSON.stringify({ realms: { town: { ...realm, ...profile } } });
    const env = { ALMONER_CONFIG: await program.file(`${name}.yaml`, text), ALMONER_JOBS: program.folder };
    return program.app({ env, clientName: name });
  };
  strict = await open('strict', { approval: { overTokens: 100 } });
  lax = await open('lax', {});
}, 60_000);
afterAll(() => program.end());

const write = async (tokens: number, members: readonly string[]) => {
  await writeFile(join(program.folder, 'list.csv'), `member\n${members.join('\n')}\n`);
  await writeFile(
    join(program.folder, 'daily.yaml'),
    `name: daily\nrealm: town\nschedule: { cron: "0 9 * * *", timezone: UTC, missed: once }\nperiod: day\naudience: { file: list.csv }\naward: { tokens: ${tokens} }\nlimits: { perRun: 100000 }\nreason: x\n`,
  );
};

test('the difference that Ben is shown', async () => {
  for (const name of ['ada', 'ben'])
    await new Tokens(strict.scripts).add(name, ['operator', 'approver'], 'x', 1);
  const say = (name: string, app: App) =>
    syncRules(app.as({ name, roles: ['operator', 'approver'] }), {
      cwd: program.folder,
      approve: ['daily'],
      prune: false,
    });
  await write(5, ['5']);
  await say('ada', strict);
  expect((await say('ben', strict)).rules[0]).toMatchObject({ approvedNow: true });
  await write(500, ['5', '6', '7']);
  const [honest] = await listRules(strict, program.folder);
  expect(JSON.stringify(honest?.text?.difference)).toContain('500');
  expect(honest?.text?.members.changed?.added.count).toBe(2);
  // Ada gives it a go with a configuration of her own, then asks for the approval.
  await say('ada', lax);
  expect((await say('ada', strict)).rules[0]).toMatchObject({ asked: 'ada' });
  const [shown] = await listRules(strict, program.folder);
  expect
    .soft(
      (shown?.text?.difference ?? [])
        .filter((line) => JSON.stringify(line).includes('500'))
        .map((line) => JSON.stringify(line)),
    )
    .toEqual(
      (honest?.text?.difference ?? [])
        .filter((line) => JSON.stringify(line).includes('500'))
        .map((line) => JSON.stringify(line)),
    );
  expect.soft(shown?.text?.members.changed?.added.count).toBe(2);
});
