import { type AlmonerError, isAlmonerError, messageOf } from '../core/errors/error.js';
import { type Config, type DescribedSetting, describeConfig } from '../runtime/config/config.js';
import { type Check, type CheckResult, failed, ok } from './doctor/check.js';
import { folderWritable, keyPlace, nodeVersion, transport } from './doctor/checks/folder.js';
import { realmAnswers } from './doctor/checks/realm.js';
import { recovery, storeSafe } from './doctor/checks/recovery.js';
import { waiting } from './doctor/checks/waiting.js';
import type { Colours } from './frame/colour.js';
import type { CommandBase } from './frame/command.js';

export type Finding = CheckResult & { readonly name: string };

export type Diagnosis = {
  readonly ok: boolean;
  readonly configuration: readonly DescribedSetting[];
  readonly checks: readonly Finding[];
};

/** Looks at everything, whatever fails on the way; only a broken configuration leaves the rest unlooked at. */
export async function diagnose(context: CommandBase): Promise<Diagnosis> {
  const checks = [await examine(nodeVersion(process.version))];
  let configuration: readonly DescribedSetting[] = [];
  try {
    const config = await context.config();
    configuration = describeConfig(config);
    checks.push({ name: 'configuration', ...ok(config.configFile ?? 'no file; defaults and environment') });
    for (const check of checksFor(config, context)) checks.push(await examine(check));
  } catch (error) {
    if (!isAlmonerError(error, 'ALM_CONFIG_INVALID')) throw error;
    checks.push({ name: 'configuration', ...invalid(error) });
  }
  return { ok: checks.every((check) => check.state !== 'failed'), configuration, checks };
}

async function examine(check: Check): Promise<Finding> {
  try {
    return { name: check.name, ...(await check.run()) };
  } catch (error) {
    const remedy = 'This check itself failed; run it again with ALMONER_LOG_LEVEL=debug and report it.';
    return { name: check.name, ...failed(messageOf(error), remedy) };
  }
}

function invalid(error: AlmonerError): CheckResult {
  return failed([error.message, ...error.details].join('\n'), error.next);
}

export function renderDiagnosis(diagnosis: Diagnosis, colours: Colours): readonly string[] {
  const width = Math.max(0, ...diagnosis.configuration.map((setting) => setting.name.length)) + 2;
  const lines = diagnosis.configuration.map(
    ({ name, value, origin }) => `  ${name.padEnd(width)}${value}  ${colours.dim(`(${origin})`)}`,
  );
  return [
    ...(lines.length === 0 ? [] : [colours.bold('Configuration'), ...lines, '']),
    colours.bold('Checks'),
    ...diagnosis.checks.flatMap((check) => renderCheck(check, colours)),
  ];
}

function renderCheck(check: Finding, colours: Colours): readonly string[] {
  const paint = { ok: colours.green, warning: colours.yellow, failed: colours.red }[check.state];
  const [first = '', ...more] = check.message.split('\n');
  const lines = [
    `  ${paint(check.state.padEnd(8))} ${check.name}: ${first}`,
    ...more.map((line) => `             - ${line}`),
  ];
  return check.state === 'ok' ? lines : [...lines, `           remedy: ${check.remedy}`];
}

/** Everything that is looked at once the configuration is known to be valid, in the order it is printed. */
function checksFor(config: Config, { env, logger }: Pick<CommandBase, 'env' | 'logger'>): readonly Check[] {
  return [
    folderWritable('data', config.dataFolder, 'ALMONER_DATA'),
    folderWritable('reports', config.reportsFolder, 'ALMONER_REPORTS'),
    folderWritable('jobs', config.jobsFolder, 'ALMONER_JOBS'),
    storeSafe(config, env, logger),
    recovery(config, env, logger),
    waiting(config, env, logger),
    ...config.profiles.flatMap((profile) => [
      transport(profile),
      keyPlace(profile, env),
      realmAnswers(profile, env),
    ]),
  ];
}
