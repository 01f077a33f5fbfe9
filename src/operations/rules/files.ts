import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { AlmonerError, isAlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { type RuleFault, RuleRefused } from '../../rules/fault.js';
import type { PackedRule } from '../../rules/rule.js';
import type { RuleHead } from '../../rules/rule-jobs.js';
import { lookAtRules, readRule } from '../../rules/rule-thread.js';
import { type Config, pickProfile } from '../../runtime/config/config.js';

/** Rule files: found in the jobs folder, or named on the command line. */
export type FoundRule = { readonly file: string; readonly result: RuleHead };

/** Every rule of the jobs folder, by name of file. Two of one name refuse each other. */
export async function findRules(config: Config, cwd: string): Promise<FoundRule[]> {
  const names = await readdir(config.jobsFolder).catch(() => []);
  const files = names.filter((name) => /\.ya?ml$/i.test(name)).sort();
  const paths = files.map((name) => join(config.jobsFolder, name));
  return withoutTwins(await lookAtRules(paths.map((path) => ({ path, file: shown(path, cwd) }))));
}

/** A rule by its file, or by its name in the jobs folder; throws with every fault where it cannot be used. */
export async function openRule(
  config: Config,
  cwd: string,
  named: string,
  stop?: AbortSignal,
): Promise<PackedRule> {
  const file = await fileOf(config, cwd, named);
  const result = await readRule(resolve(cwd, file), file, stop);
  if ('faults' in result) throw new RuleRefused(file, result.faults);
  return result;
}

/** A rule of the jobs folder by its name only: a path from a request must not reach the disk. */
export async function openRuleNamed(
  config: Config,
  cwd: string,
  name: string,
  stop?: AbortSignal,
): Promise<PackedRule> {
  const found = await findRules(config, cwd);
  const file = found.find(({ result }) => 'rule' in result && result.rule.name === name)?.file;
  if (file === undefined)
    throw new AlmonerError('ALM_RULE_NOT_FOUND', `No usable rule is called ${JSON.stringify(name)}.`);
  return openRule(config, cwd, file, stop);
}

/** The profile a rule pays by. `--realm` may name the same one, and no other. */
export function profileOfRule(
  config: Config,
  rule: { realm: string; file: string },
  chosen?: string,
): RealmProfile {
  let profile: RealmProfile;
  try {
    profile = pickProfile(config, rule.realm);
  } catch (error) {
    if (!isAlmonerError(error)) throw error;
    throw new AlmonerError(
      'ALM_RULE_REALM',
      `${rule.file} is for the realm ${JSON.stringify(rule.realm)}, which is not configured here. Nothing was done.`,
      { details: error.details },
    );
  }
  if (chosen !== undefined && pickProfile(config, chosen) !== profile)
    throw new AlmonerError(
      'ALM_RULE_REALM',
      `${rule.file} is for the realm ${JSON.stringify(rule.realm)}, and --realm says ${JSON.stringify(chosen)}. Nothing was done.`,
    );
  return profile;
}

/** A rule for a realm that is not configured here is still a rule: samples, or those of another machine. */
export function profileOrNull(config: Config, rule: { realm: string; file: string }): RealmProfile | null {
  try {
    return profileOfRule(config, rule);
  } catch (error) {
    if (isAlmonerError(error)) return null;
    throw error;
  }
}

async function fileOf(config: Config, cwd: string, named: string): Promise<string> {
  if (existsSync(resolve(cwd, named))) return named;
  if (/\.ya?ml$/i.test(named)) throw new AlmonerError('ALM_RULE_NOT_FOUND', `There is no file ${named}.`);
  const rules = await findRules(config, cwd);
  const match = rules.find(({ result }) => result.name === named);
  if (match !== undefined) return match.file;
  throw new AlmonerError(
    'ALM_RULE_NOT_FOUND',
    `There is no file ${JSON.stringify(named)}, and no rule of that name in ${shown(config.jobsFolder, cwd)}.`,
  );
}

function withoutTwins(found: readonly FoundRule[]): FoundRule[] {
  const first = new Map<string, string>();
  return found.map(({ file, result }) => {
    const { name } = result;
    const earlier = name === null ? undefined : first.get(name);
    if (earlier === undefined) {
      if (name !== null) first.set(name, file);
      return { file, result };
    }
    const twin: RuleFault = {
      file,
      line: 1,
      column: 1,
      code: 'ALM_RULE_NAME_TAKEN',
      message: `${earlier} is called ${JSON.stringify(name)} as well.`,
    };
    return { file, result: { name, faults: [...('faults' in result ? result.faults : []), twin] } };
  });
}

function shown(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short.startsWith('..') || short === '' ? path : short;
}
