import { PassThrough } from 'node:stream';
import { command as cancel } from '../../src/cli/commands/cancel.js';
import { command as deadList } from '../../src/cli/commands/dead-list.js';
import { command as retry } from '../../src/cli/commands/dead-retry.js';
import { command as deadShow } from '../../src/cli/commands/dead-show.js';
import { command as toPlan } from '../../src/cli/commands/plan.js';
import { command as report } from '../../src/cli/commands/report.js';
import { command as resume } from '../../src/cli/commands/resume.js';
import { command as check } from '../../src/cli/commands/rules-check.js';
import { command as explain } from '../../src/cli/commands/rules-explain.js';
import { command as list } from '../../src/cli/commands/rules-list.js';
import { command as plan } from '../../src/cli/commands/rules-plan.js';
import { command as run } from '../../src/cli/commands/rules-run.js';
import { command as sync } from '../../src/cli/commands/rules-sync.js';
import { command as attempt } from '../../src/cli/commands/rules-try.js';
import { command as pay } from '../../src/cli/commands/run.js';
import { command as status } from '../../src/cli/commands/status.js';
import { command as undo } from '../../src/cli/commands/undo.js';
import type { Command, CommandBase } from '../../src/cli/frame/command.js';
import { createOutput } from '../../src/cli/frame/output.js';
import { parseCommandLine } from '../../src/cli/frame/program.js';
import { AlmonerError } from '../../src/core/errors/error.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import type { Ran } from './almoner.js';

const RULES = [check, explain, list, plan, run, sync, attempt];
const COMMANDS = [...RULES, toPlan, pay, status, resume, cancel, report, undo, deadList, deadShow, retry];

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
