import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RuleFault } from '../../src/rules/fault.js';
import { loadRule } from '../../src/rules/load-rule.js';
import type { FaultyRule, LoadedRule } from '../../src/rules/rule.js';
import { tempFolder } from '../support/temp-folder.js';

/** A rule in a folder of its own, with the files beside it. */
async function ruleFrom(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<LoadedRule | FaultyRule> {
  const folder = await tempFolder();
  for (const [name, content] of Object.entries({ 'audience.csv': AUDIENCE, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  await writeFile(join(folder, 'rule.yaml'), text);
  return loadRule(join(folder, 'rule.yaml'));
}

export async function goodRule(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<LoadedRule> {
  const result = await ruleFrom(text, files);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result;
}

export async function faultsOf(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<readonly RuleFault[]> {
  const result = await ruleFrom(text, files);
  return 'faults' in result ? result.faults : [];
}

export const AUDIENCE = 'member,score,active\n101,5,true\n102,7,false\n103,9,true\n';

/** A small rule; each given field is put in place of its own line, and an empty one leaves it out. */
export function ruleText(changes: Readonly<Record<string, string>> = {}): string {
  const fields: Record<string, string> = {
    name: 'name: thanks',
    realm: 'realm: embedded',
    period: 'period: week',
    audience: 'audience:\n  file: audience.csv',
    award: 'award:\n  tokens: 50',
    reason: 'reason: Thank you',
    ...changes,
  };
  return `${Object.values(fields)
    .filter((line) => line !== '')
    .join('\n')}\n`;
}
