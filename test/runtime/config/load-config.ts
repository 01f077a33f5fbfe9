import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isAlmonerError } from '../../../src/core/errors/error.js';
import { type Config, type ConfigInput, loadConfig } from '../../../src/runtime/config/config.js';

/** A folder of its own with the given files, gone after the test. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'almoner-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export type Given = Partial<Omit<ConfigInput, 'cwd'>> & { readonly cwd?: string; readonly yaml?: string };

export function load(given: Given = {}): Promise<Config> {
  const {
    yaml,
    cwd = folderWith(yaml === undefined ? {} : { 'almoner.config.yaml': yaml }),
    ...rest
  } = given;
  return loadConfig({ env: { HOME: '/home/ada' }, flags: {}, ...rest, cwd });
}

/** The faults of a configuration that must be refused. */
export async function faultsOf(given: Given): Promise<readonly string[]> {
  try {
    await load(given);
  } catch (error) {
    if (isAlmonerError(error, 'ALM_CONFIG_INVALID')) return error.details;
    throw error;
  }
  return [];
}
