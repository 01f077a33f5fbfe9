import { isAlmonerError, messageOf } from '../../core/errors/error.js';
import { App } from '../../runtime/app.js';
import { type Config, type DescribedSetting, describeConfig } from '../../runtime/config/config.js';
import { type Check, type CheckResult, failed, folderWritable, nodeVersion, ok } from '../doctor/machine.js';
import { type RealmTerms, realmTerms, type TokenInUse, termsLines, tokenInUse } from '../doctor/people.js';
import { keyPlace, realmAnswers, transport } from '../doctor/realm.js';
import { storeChecks } from '../doctor/store.js';
import { type CommandBase, defineCommand } from '../frame/command.js';
import type { Colours } from '../text/colours.js';

/** A person waits for the diagnosis, so that a store that does not answer within 5 s is a finding. */
const PATIENCE_MS = 5_000;

/** Checks configuration, folders, store and realm, and names a remedy for each fault. */
export const doctor = defineCommand({
  name: 'doctor',
  description: 'Prints the configuration with the origin of every setting, and checks what a run needs.',
  async run(context) {
    const diagnosis = await diagnose(context);
    context.output.print({
      json: diagnosis,
      text: renderDiagnosis(diagnosis, context.output.colours),
      next: diagnosis.ok
        ? 'almoner plan FILE shows what a file would do.'
        : 'follow the remedies above, then run `almoner doctor` again.',
    });
    return diagnosis.ok ? 0 : 2;
  },
});

/** A check's result with the check's name. */
type Finding = CheckResult & { readonly name: string };

type Diagnosis = {
  readonly ok: boolean;
  readonly configuration: readonly DescribedSetting[];
  readonly realms: readonly RealmTerms[];
  /** Null where the token could not be read or the store did not answer. The check `token` says why. */
  readonly token: TokenInUse | null;
  readonly checks: readonly Finding[];
};

/**
 * Runs every check, even after one fails. An invalid configuration ends the list, because the other checks need it.
 */
async function diagnose(context: CommandBase): Promise<Diagnosis> {
  const { env } = context;
  const checks = [await examine(nodeVersion(process.version))];
  let app: Promise<App> | undefined;
  const open = async () => {
    const [config, logger] = await Promise.all([context.config(), context.logger()]);
    app ??= App.open({ config, env, logger, clientName: 'doctor', patienceMs: PATIENCE_MS });
    return app;
  };
  let configuration: readonly DescribedSetting[] = [];
  let realms: readonly RealmTerms[] = [];
  let token: TokenInUse | null = null;
  try {
    const config = await context.config();
    configuration = describeConfig(config);
    checks.push({ name: 'configuration', ...ok(config.configFile ?? 'no file; defaults and environment') });
    for (const check of checksFor(config, env, open)) checks.push(await examine(check));
    realms = await Promise.all(config.profiles.map((profile) => realmTerms(profile, open)));
    token = await open()
      .then(tokenInUse)
      .catch(() => null);
  } catch (error) {
    if (!isAlmonerError(error, 'ALM_CONFIG_INVALID')) throw error;
    checks.push({
      name: 'configuration',
      ...failed([error.message, ...error.details].join('\n'), error.next),
    });
  } finally {
    await app?.then(
      (opened) => opened.close(),
      () => {},
    );
  }
  return { ok: checks.every((check) => check.state !== 'failed'), configuration, realms, token, checks };
}

/** Runs one check. An exception is a failed check, so that the other checks still run. */
async function examine(check: Check): Promise<Finding> {
  try {
    return { name: check.name, ...(await check.run()) };
  } catch (error) {
    const remedy = 'This check itself failed; run it again with ALMONER_LOG_LEVEL=debug and report it.';
    return { name: check.name, ...failed(messageOf(error), remedy) };
  }
}

/** The diagnosis in words: settings, realms, then checks. */
function renderDiagnosis(diagnosis: Diagnosis, colours: Colours): readonly string[] {
  const width = Math.max(0, ...diagnosis.configuration.map((setting) => setting.name.length)) + 2;
  const lines = diagnosis.configuration.map(
    ({ name, value, origin }) => `  ${name.padEnd(width)}${value}  ${colours.dim(`(${origin})`)}`,
  );
  return [
    ...(lines.length === 0 ? [] : [colours.bold('Configuration'), ...lines, '']),
    ...diagnosis.realms.flatMap((terms) => [
      colours.bold(`Realm ${terms.realm}`),
      ...termsLines(terms).map(([what, words]) => `  ${what.padEnd(14)}${words}`),
      '',
    ]),
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

/** The checks that need a valid configuration, in the order in which they are printed. */
function checksFor(config: Config, env: NodeJS.ProcessEnv, open: () => Promise<App>): readonly Check[] {
  return [
    folderWritable('data', config.dataFolder, null),
    folderWritable('reports', config.reportsFolder, 'ALMONER_REPORTS'),
    folderWritable('jobs', config.jobsFolder, 'ALMONER_JOBS'),
    ...storeChecks(open),
    ...config.profiles.flatMap((profile) => [
      transport(profile),
      keyPlace(profile, env),
      realmAnswers(profile, env),
    ]),
  ];
}
