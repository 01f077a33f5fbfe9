import { createInterface, type Interface } from 'node:readline/promises';
import { AlmonerError } from '../../core/errors/error.js';
import type { Preview } from '../../planning/preview.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { totalWords } from '../../words/amounts.js';
import type { Surroundings } from './command.js';

/** The streams on which a person is asked. */
type Terminal = Pick<Surroundings, 'stdin' | 'stderr'>;

/**
 * Asks for a confirmation before points move: the person types the total. A script passes --yes. Without a terminal
 * and without --yes the command ends and sends nothing.
 */
export async function confirmTotal(
  terminal: Terminal,
  { payableTokens: total, amounts }: Pick<Preview, 'payableTokens' | 'amounts'>,
  yes: boolean,
  fileIsStdin: boolean,
): Promise<void> {
  if (yes) return;
  if (terminal.stdin.isTTY !== true || fileIsStdin)
    throw new AlmonerError(
      'ALM_CLI_NOT_CONFIRMED',
      fileIsStdin
        ? 'The file comes from standard input, so that almoner cannot ask for the total. Nothing was enqueued and nothing was sent.'
        : 'There is no terminal to ask on. Nothing was enqueued and nothing was sent.',
      { next: 'Pass --yes, best together with --expect-rows and --expect-tokens.' },
    );
  const what = amounts === null ? '' : `, ${totalWords(amounts)},`;
  const typed = await answerTo(
    terminal,
    `Type the total (${total})${what} to go on, anything else to stop: `,
  );
  if (typed.replaceAll(/[,.' ]/g, '') === String(total)) return;
  throw new AlmonerError(
    'ALM_CLI_NOT_CONFIRMED',
    'That is not the total. Nothing was enqueued and nothing was sent.',
  );
}

/**
 * Asks the person to accept the risk that the refusal names. Without a terminal and without --yes it throws the
 * refusal.
 */
export async function confirmRisk(terminal: Terminal, refusal: AlmonerError, yes: boolean): Promise<void> {
  if (yes) return;
  if (terminal.stdin.isTTY !== true) throw refusal;
  const [said] = refusal.message.split(' Nothing was done.');
  const typed = await answerTo(
    terminal,
    `${[said, ...refusal.details].join('\n  ')}\nType yes to go on, anything else to stop: `,
  );
  if (typed.toLowerCase() !== 'yes') throw refusal;
}

function answerTo(terminal: Terminal, question: string): Promise<string> {
  return onTerminal(terminal, (asked) => asked(question));
}

/** Asks on the terminal. Ctrl-C, Ctrl-D or a closed terminal counts as a refusal, and the command does nothing. */
async function onTerminal<T>(
  { stdin, stderr }: Terminal,
  work: (asked: (question: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return await withStopSignals((stop) => work((question) => typedOn(lines, question, stop)));
  } finally {
    lines.close();
  }
}

/** Reads one answer. An interrupt or the end of input throws. */
async function typedOn(lines: Interface, question: string, stop: AbortSignal): Promise<string> {
  // The end of input closes the lines, and yet leaves a pending question open for ever.
  const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
  const typed = await Promise.race([closed, lines.question(question, { signal: stop }).catch(() => null)]);
  if (typed !== null) return typed.trim();
  throw new AlmonerError(
    'ALM_CLI_INTERRUPTED',
    'The question was left without an answer. Nothing was done and nothing was sent.',
  );
}

/** Asks one question. Enter takes the default. */
type Ask = (question: string, usual: string, valid: (answer: string) => string | null) => Promise<string>;

/** Asks several questions, each again until its answer is valid. */
export function withQuestions<T>(terminal: Terminal, work: (ask: Ask) => Promise<T>): Promise<T> {
  return onTerminal(terminal, (asked) =>
    work(async (question, usual, valid) => {
      for (;;) {
        const shown = usual === '' ? '' : ` [${usual}]`;
        const answer = (await asked(`${question}${shown}: `)) || usual;
        const fault = valid(answer);
        if (fault === null) return answer;
        terminal.stderr.write(`  ${fault}\n`);
      }
    }),
  );
}
