#!/usr/bin/env node
import type { ExitStatus } from '../core/errors/entry.js';
import { AlmonerError, isAlmonerError, messageOf } from '../core/errors/error.js';
import { createRedactor } from '../runtime/redaction.js';
import { createContext } from './frame/context.js';
import { hasOption, locate } from './frame/locate.js';
import { usage } from './frame/options.js';
import { createOutput } from './frame/output.js';
import { parseCommandLine } from './frame/program.js';
import { groupOverview, loadCommand, overview, TABLE } from './frame/table.js';
import { version } from './frame/version.js';

// `almoner help run` is what many try first.
const typed = process.argv.slice(2);
const argv = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
const { stdout, stderr, env } = process;
const output = createOutput({ json: hasOption(argv, '--json'), env, stdout, stderr });

async function main(): Promise<ExitStatus> {
  const located = locate(argv);
  const wantsHelp = hasOption(argv, '--help', '-h');
  if (located.kind === 'none') {
    if (hasOption(argv, '--version', '-V')) {
      output.print({ json: { version: version() }, text: version() });
      return 0;
    }
    // Anything else than global options is for the parser to refuse.
    if (wantsHelp || argv.every((word) => word === '--json')) {
      output.print({ json: { commands: TABLE }, text: overview(TABLE, output.colours) });
      return 0;
    }
  }
  if (located.kind === 'group') {
    const text = groupOverview(located.words, located.entries);
    if (!wantsHelp)
      throw usage(
        `\`almoner ${located.words.join(' ')}\` needs to know what to do. Nothing was done.`,
        `Choose one of: ${located.entries.map((entry) => `almoner ${entry.name}`).join(', ')}.`,
      );
    output.print({ json: { commands: located.entries }, text });
    return 0;
  }
  const command = located.kind === 'command' ? await loadCommand(located.entry) : undefined;
  const parsed = parseCommandLine(argv, command);
  if (parsed.kind === 'help') {
    output.print({ json: { help: parsed.text }, text: parsed.text });
    return 0;
  }
  if (command === undefined) throw new Error('a command line was accepted without a command');
  return command.start(createContext(parsed.global, output), parsed.given);
}

/** Whatever was thrown, a user meets a code, a sentence and a next step; a bug also says that it is one. */
function report(thrown: unknown): ExitStatus {
  const error = isAlmonerError(thrown)
    ? thrown
    : new AlmonerError('ALM_CLI_INTERNAL', `Something failed that should not have: ${messageOf(thrown)}`, {
        cause: thrown,
      });
  output.error(error);
  const debugging = /debug|trace/.test(`${env.ALMONER_LOG_LEVEL ?? ''} ${argv.join(' ')}`);
  if (debugging && thrown instanceof Error && thrown.stack !== undefined)
    output.note(createRedactor().text(thrown.stack));
  return error.exit;
}

async function end(status: ExitStatus): Promise<never> {
  // A pipe may still hold the last document; leaving before it is drained would cut it.
  await new Promise<void>((resolve) => stdout.write('', () => resolve()));
  process.exit(status);
}

// A promise nobody waits for, or an error in a callback: the process no longer knows its own state.
process.on('unhandledRejection', (reason) => void end(report(reason)));
process.on('uncaughtException', (error) => void end(report(error)));

void main().catch(report).then(end);
