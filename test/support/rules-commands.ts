import { PassThrough } from 'node:stream';
import * as batches from '../../src/cli/commands/batches.js';
import * as dead from '../../src/cli/commands/dead.js';
import * as deadMend from '../../src/cli/commands/dead-mend.js';
import * as pay from '../../src/cli/commands/pay.js';
import * as records from '../../src/cli/commands/records.js';
import * as rules from '../../src/cli/commands/rules.js';
import * as rulesCheck from '../../src/cli/commands/rules-check.js';
import * as rulesPlan from '../../src/cli/commands/rules-plan.js';
import * as rulesRun from '../../src/cli/commands/rules-run.js';
import type { Command, CommandBase } from '../../src/cli/frame/command.js';
import { createOutput } from '../../src/cli/frame/output.js';
import { parseCommandLine } from '../../src/cli/frame/program.js';
import { isCommand } from '../../src/cli/frame/table.js';
import { AlmonerError } from '../../src/core/errors/error.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import type { Ran } from './almoner.js';

const MODULES: readonly object[] = [
  rules,
  rulesCheck,
  rulesPlan,
  rulesRun,
  pay,
  batches,
  records,
  dead,
  deadMend,
];
const COMMANDS = MODULES.flatMap((module) => Object.values(module)).filter(isCommand);

/**
 * A `rules` command, or another that goes on with its batch, as it is typed, inside this process: the parser, the command and its output are the real
 * ones, and only the start of another Node is saved.
 */
export async function rulesCommand(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Ran> {
  const command = commandOf(argv);
  const [stdout, stderr] = [collecting(), collecting()];
  const output = createOutput({
    json: argv.includes('--json'),
    env,
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  let status: number;
  try {
    const parsed = parseCommandLine(argv, command);
    if (parsed.kind === 'help') throw new Error(parsed.text);
    const config = async () => loadConfig({ env, cwd, flags: {} });
    const base: CommandBase = {
      global: parsed.global,
      env,
      cwd,
      output,
      config,
      profile: async () => pickProfile(await config(), parsed.global.realm),
      logger: async () => createLogger({ level: 'silent' }),
    };
    status = await command.start(base, parsed.given);
  } catch (error) {
    if (!(error instanceof AlmonerError)) throw error;
    output.error(error);
    status = error.exit;
  }
  return { status, stdout: stdout.text(), stderr: stderr.text() };
}

function commandOf(argv: readonly string[]): Command {
  const name = argv.slice(0, 2).join(' ');
  const found = COMMANDS.find((command) => command.name === name || command.name === argv[0]);
  if (found === undefined) throw new Error(`no command ${name}`);
  return found;
}

function collecting() {
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  return { stream, text: () => text };
}
