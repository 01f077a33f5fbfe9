import type { ExitStatus } from '../../core/errors/entry.js';
import { explained } from '../../core/errors/error.js';
import type { LogDestination } from '../../runtime/logger.js';
import { createRedactor } from '../../runtime/redaction.js';
import type { Surroundings } from './command.js';
import { createContext } from './context.js';
import { hasOption, locate } from './locate.js';
import { usage } from './options.js';
import { createOutput, type Sink } from './output.js';
import { parseCommandLine } from './program.js';
import { groupOverview, loadCommand, overview, TABLE } from './table.js';
import { version } from './version.js';

/**
 * Runs one command line from its words to its exit status. It touches the process only for signals; everything else
 * is handed in, so that a test can run a command line inside its own process.
 */
export class CommandLine {
  private readonly argv: readonly string[];
  private readonly output;

  constructor(
    typed: readonly string[],
    private readonly world: Surroundings & {
      readonly stdout: Sink;
      /** The destination of log lines; by default the process's standard error. */
      readonly log?: LogDestination;
    },
  ) {
    // Many people try `almoner help run` first.
    this.argv = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
    this.output = createOutput({
      json: hasOption(this.argv, '--json'),
      env: world.env,
      stdout: world.stdout,
      stderr: world.stderr,
    });
  }

  /** Never throws: an error is printed and becomes an exit status. */
  run(): Promise<ExitStatus> {
    return this.answer().catch((thrown: unknown) => this.report(thrown));
  }

  private async answer(): Promise<ExitStatus> {
    const { argv, output } = this;
    const located = locate(argv);
    const wantsHelp = hasOption(argv, '--help', '-h');
    if (located.kind === 'none') {
      if (hasOption(argv, '--version', '-V')) {
        output.print({ json: { version: version() }, text: version() });
        return 0;
      }
      // The parser refuses anything other than global options.
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
    const { env, cwd, stdin, stderr, log } = this.world;
    return command.start(
      createContext(parsed.global, output, { env, cwd, stdin, stderr, log }),
      parsed.given,
    );
  }

  report(thrown: unknown): ExitStatus {
    const error = explained(thrown);
    this.output.error(error);
    const debugging = /debug|trace/.test(`${this.world.env.ALMONER_LOG_LEVEL ?? ''} ${this.argv.join(' ')}`);
    if (debugging && thrown instanceof Error && thrown.stack !== undefined)
      this.output.note(createRedactor().text(thrown.stack));
    return error.exit;
  }
}
