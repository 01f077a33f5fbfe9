import { relative } from 'node:path';
import { parseBaseUrl } from '../../core/base-url.js';
import { isAlmonerError } from '../../core/errors/error.js';
import { CERTAINTIES, parseRate } from '../../core/profile.js';
import { type FirstRealm, firstFiles, writeFirstFiles } from '../../operations/services/first-files.js';
import { loadConfig, pickProfile } from '../../runtime/config/config.js';
import { type CheckResult, failed } from '../doctor/machine.js';
import { realmAnswers } from '../doctor/realm.js';
import { type CommandBase, defineCommand, type Given } from '../frame/command.js';
import { withQuestions } from '../frame/confirm.js';
import { choice, flag, text, usage } from '../frame/options.js';

const OPTIONS = {
  url: text('URL', 'base URL of the realm, with or without /api/v4'),
  realmId: text('ID', 'the realm’s id'),
  name: text('NAME', 'a name for the realm in commands (default: its id)'),
  keyEnv: text('NAME', 'environment variable that holds the key'),
  keyFile: text('FILE', 'file that holds the key'),
  rate: text('R', 'requests allowed, e.g. 24/min'),
  certainty: choice(CERTAINTIES, 'how an unknown outcome is resolved'),
  rehearsal: flag('no realm yet: everything stays a rehearsal'),
} as const;

/** Writes a first configuration with a sample file and rule. */
export const init = defineCommand({
  name: 'init',
  description:
    'Writes a commented configuration, a sample CSV and a sample rule into this folder, asks for the few things it needs, and checks them. Overwrites nothing.',
  options: OPTIONS,
  examples: [
    'almoner init',
    'almoner init --url https://realm.example --realm-id my-realm --key-env MY_KEY --rate 24/min',
  ],
  async run({ options, cwd, env, stdin, stderr, output }) {
    const realm = await firstRealm(options, { stdin, stderr });
    const files = firstFiles(cwd, realm);
    await writeFirstFiles(files);
    const names = files.map(({ path }) => relative(cwd, path));
    const check = realm === null ? null : await checkRealm(realm.name, cwd, env);
    output.print({
      json: { files: names, realm: realm?.name ?? null, check },
      text: [
        `Written: ${names.join(', ')}`,
        ...(check === null
          ? ['No realm is configured: everything is a rehearsal until one is.']
          : [`Realm ${realm?.name}: ${check.message}`]),
        ...(check?.state === 'failed' ? [`  remedy: ${check.remedy}`] : []),
      ],
      next:
        check?.state === 'failed'
          ? 'mend that, then almoner doctor'
          : 'almoner rehearse jobs/first-airdrop.csv',
    });
  },
});

/** Takes the first realm from the options, or asks on a terminal. Null: rehearsals only. */
async function firstRealm(
  given: Given<typeof OPTIONS>,
  terminal: Pick<CommandBase, 'stdin' | 'stderr'>,
): Promise<FirstRealm | null> {
  if (given.rehearsal) return null;
  if (given.url !== undefined || given.realmId !== undefined) return fromFlags(given);
  if (terminal.stdin.isTTY !== true) return null;
  return withQuestions(terminal, async (ask) => {
    const url = await ask('Base URL of the realm (empty: rehearsals only for now)', '', (answer) =>
      answer === '' ? null : faultOfUrl(answer),
    );
    if (url === '') return null;
    const realmId = await ask('Realm id', '', (answer) =>
      answer === '' ? 'the realm’s id is needed' : null,
    );
    const keyEnv = await ask('Environment variable that holds the key', 'ALMONER_API_KEY', faultOfName);
    const rate = await ask('Requests allowed', '20/min', faultOfRate);
    const certainty = await ask(`Certainty (${CERTAINTIES.join(', ')})`, 'manual', faultOfCertainty);
    return { name: realmId, baseUrl: url, realmId, keyEnv, keyFile: null, rate, certainty };
  });
}

/** Reads the first realm from options alone, for scripts. */
function fromFlags(given: Given<typeof OPTIONS>): FirstRealm {
  const { url, realmId } = given;
  if (url === undefined || realmId === undefined)
    throw usage('--url and --realm-id belong together. Nothing was written.');
  const rate = given.rate ?? '20/min';
  const faults = [
    faultOfUrl(url),
    faultOfRate(rate),
    given.keyEnv === undefined ? null : faultOfName(given.keyEnv),
  ];
  const fault = faults.find((one) => one !== null);
  if (fault != null) throw usage(`${fault}. Nothing was written.`);
  return {
    name: given.name ?? realmId,
    baseUrl: url,
    realmId,
    keyEnv: given.keyFile === undefined ? (given.keyEnv ?? 'ALMONER_API_KEY') : null,
    keyFile: given.keyFile ?? null,
    rate,
    certainty: given.certainty ?? 'manual',
  };
}

/** Reads once from the realm with the new files, so that a typing error shows now and not at the first payment. */
async function checkRealm(name: string, cwd: string, env: NodeJS.ProcessEnv): Promise<CheckResult> {
  try {
    return await realmAnswers(pickProfile(await loadConfig({ env, cwd, flags: {} }), name), env).run();
  } catch (error) {
    // The files are written already, so that a fault in the environment is reported as a failed check.
    if (isAlmonerError(error, 'ALM_CONFIG_INVALID')) return failed(error.details.join('\n'), error.next);
    throw error;
  }
}

function faultOfUrl(answer: string): string | null {
  const parsed = parseBaseUrl(answer);
  return 'fault' in parsed ? `--url: ${parsed.fault}` : null;
}

function faultOfRate(answer: string): string | null {
  const parsed = parseRate(answer);
  return 'fault' in parsed ? `--rate: ${parsed.fault}` : null;
}

function faultOfName(answer: string): string | null {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(answer) ? null : 'expected the name of an environment variable';
}

function faultOfCertainty(answer: string): string | null {
  return CERTAINTIES.some((one) => one === answer) ? null : `expected one of ${CERTAINTIES.join(', ')}`;
}
