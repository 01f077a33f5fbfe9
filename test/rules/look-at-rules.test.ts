import { execFileSync } from 'node:child_process';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { lookAtRules, RuleThread } from '../../src/rules/rule-thread.js';
import { tempFolder } from '../support/temp-folder.js';
import { AUDIENCE, ruleText } from './rule-file.js';

let folder: string;
beforeEach(async () => {
  folder = await tempFolder();
  await write('audience.csv', AUDIENCE);
  await write('rule.yaml', ruleText());
});

const write = (name: string, text: string) => writeFile(join(folder, name), text);

/** What is said of each file: the rule's name, or the code and the place of its first fault. */
async function look(...names: string[]): Promise<string[]> {
  const found = await lookAtRules(names.map((name) => ({ path: join(folder, name), file: name })));
  return found.map(({ result }) => {
    if ('rule' in result) return `${result.rule.name}: ${result.audience.members}`;
    const [first] = result.faults;
    return `${first?.code} ${first?.file}:${first?.line}`;
  });
}

describe('looking at rules', () => {
  test('reads a file once, however many ask at once and again', async () => {
    const jobs = vi.spyOn(RuleThread.prototype, 'ask');
    const asked = Array.from({ length: 50 }, () => look('rule.yaml'));
    expect(new Set((await Promise.all(asked)).flat())).toEqual(new Set(['thanks: 3']));
    expect(await look('rule.yaml')).toEqual(['thanks: 3']);
    expect(jobs.mock.calls.filter(([job]) => job === 'look')).toHaveLength(1);
  });

  test('sees every change of the rule and of what it names, directly or not', async () => {
    await write('rule.yaml', ruleText({ audience: 'audience:\n  file: list.yaml' }));
    await write('list.yaml', 'file: audience.csv\n');
    expect(await look('rule.yaml')).toEqual(['thanks: 3']);
    await write('audience.csv', `${AUDIENCE}104,1,true\n`);
    expect(await look('rule.yaml')).toEqual(['thanks: 4']);
    await write('list.yaml', 'file: missing.csv\n');
    expect(await look('rule.yaml')).toEqual(['ALM_RULE_FILE_MISSING list.yaml:1']);
    await write('missing.csv', AUDIENCE);
    expect(await look('rule.yaml')).toEqual(['thanks: 3']);
    await write('rule.yaml', ruleText({ name: 'name: others' }));
    expect(await look('rule.yaml')).toEqual(['others: 4']);
  });

  test('passes over lists of members, and looks at them again once they are rules', async () => {
    await write('list.yaml', 'members: [101, 102]\n');
    expect(await look('list.yaml', 'rule.yaml')).toEqual(['thanks: 3']);
    await write('list.yaml', ruleText({ name: 'name: others' }));
    expect(await look('list.yaml', 'rule.yaml')).toEqual(['others: 3', 'thanks: 3']);
  });

  test('waits for no pipe, neither as a rule nor as an audience', async () => {
    for (const name of ['pipe.yaml', 'pipe.csv']) execFileSync('mkfifo', [join(folder, name)]);
    await write('waits.yaml', ruleText({ audience: 'audience:\n  file: pipe.csv' }));
    expect(await look('pipe.yaml', 'waits.yaml', 'rule.yaml')).toEqual([
      'ALM_RULE_FILE_MISSING pipe.yaml:0',
      'ALM_RULE_FILE_MISSING waits.yaml:5',
      'thanks: 3',
    ]);
  });

  test('finds an audience that cannot be read a fault of its own rule', async () => {
    await write('huge.csv', AUDIENCE);
    await truncate(join(folder, 'huge.csv'), 2 ** 31);
    await write('large.yaml', ruleText({ audience: 'audience:\n  file: huge.csv' }));
    expect(await look('large.yaml', 'rule.yaml')).toEqual(['ALM_FILE_TOO_LARGE huge.csv:0', 'thanks: 3']);
  });
});
