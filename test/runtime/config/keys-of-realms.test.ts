import { linkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { faultsOf, folderWith, load } from './load-config.js';

const realms = (...lines: string[]) => `realms:\n${lines.map((line) => `  ${line}\n`).join('')}`;
const MAIN = 'main: { baseUrl: https://r.example, realmId: "42", keyEnv: ALMONER_API_KEY }';
const ENVIRONMENT = { ALMONER_REALM_ID: 'new', ALMONER_API_KEY: 'k' };

/** A key sent to another realm’s host is disclosed; a key sent to another realm on the same host only gets a 403. */
describe('each key source belongs to one realm', () => {
  test.each([
    ['another host', 'https://s.example'],
    ['another port', 'https://r.example:8443'],
    ['another realm of the same host', 'https://r.example'],
  ])('a realm of the environment at %s does not share its variable with one of the file', async (_, url) => {
    const faults = await faultsOf({ yaml: realms(MAIN), env: { ...ENVIRONMENT, ALMONER_REALM_URL: url } });
    expect(faults).toEqual([
      `ALMONER_API_KEY: expected a key for realm new at ${url} alone, but realms.main reads the same variable ALMONER_API_KEY for realm 42 at https://r.example; give one of them a keyEnv or keyFile of its own (environment)`,
    ]);
    expect(faults.join()).not.toContain('"k"');
  });

  test('two realms of the file do not share a variable', async () => {
    const yaml = realms(
      'main: { baseUrl: https://r.example, realmId: a, keyEnv: K }',
      'side: { baseUrl: https://s.example, realmId: a, keyEnv: K }',
    );
    expect(await faultsOf({ yaml })).toEqual([
      'realms.side.keyEnv: expected a key for realm a at https://s.example alone, but realms.main reads the same variable K for realm a at https://r.example; give one of them a keyEnv or keyFile of its own (almoner.config.yaml line 3, column 59)',
    ]);
  });

  test('nor a file, however it is spelled', async () => {
    const yaml = realms(
      'main: { baseUrl: https://r.example, realmId: a, keyFile: key }',
      'side: { baseUrl: https://s.example, realmId: b, keyFile: ../etc/linked }',
    );
    const cwd = folderWith({ 'etc/c.yaml': yaml, 'etc/key': 'k' });
    for (const link of [symlinkSync, linkSync]) {
      rmSync(join(cwd, 'etc/linked'), { force: true });
      link(join(cwd, 'etc/key'), join(cwd, 'etc/linked'));
      expect(await faultsOf({ cwd, flags: { config: 'etc/c.yaml' } })).toEqual([
        expect.stringMatching(/^realms\.side\.keyFile: .*realms\.main reads the same file /),
      ]);
    }
    const env = { ALMONER_REALM_URL: 'https://t.example', ALMONER_REALM_ID: 'c' };
    const alone = folderWith({ 'almoner.config.yaml': realms(yaml.split('\n')[1]?.trim() ?? '') });
    expect(await faultsOf({ cwd: alone, env: { ...env, ALMONER_API_KEY_FILE: 'key' } })).toEqual([
      expect.stringMatching(/^ALMONER_API_KEY_FILE: .*realms\.main reads the same file /),
    ]);
  });

  test('all that share one are named, and a realm given twice is not told so as well', async () => {
    const at = (name: string, host: string) =>
      `${name}: { baseUrl: https://${host}.example, realmId: x, keyEnv: K }`;
    const faults = await faultsOf({ yaml: realms(at('a', 'a'), at('b', 'b'), at('c', 'c'), at('d', 'a')) });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'realms.b.keyEnv',
      'realms.c.keyEnv',
      'realms.d',
    ]);
  });

  test('the realm of the file and of the environment may be one', async () => {
    const env = {
      ...ENVIRONMENT,
      ALMONER_REALM_ID: '42',
      ALMONER_REALM_URL: 'https://R.example:443/api/v4/',
    };
    expect((await load({ yaml: realms(MAIN), env })).profiles).toHaveLength(1);
    expect((await load({ yaml: realms(MAIN), env: { ALMONER_API_KEY: 'k' } })).profiles).toHaveLength(1);
  });
});
