import { createInterface, type Interface } from 'node:readline/promises';
import { AlmonerError } from '../../core/errors/error.js';

/**
 * Asks before points move: the person types the total. A script says --yes; without a terminal and without
 * --yes nothing is sent.
 */
export async function confirmTotal(total: bigint, yes: boolean, fileIsStdin: boolean): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY !== true || fileIsStdin)
    throw new AlmonerError(
      'ALM_CLI_NOT_CONFIRMED',
      fileIsStdin
        ? 'The file comes from standard input, so that nobody can be asked. Nothing was enqueued and nothing was sent.'
        : 'There is no terminal to ask on. Nothing was enqueued and nothing was sent.',
      { next: 'Pass --yes, best together with --expect-rows and --expect-tokens.' },
    );
  const typed = await answerTo(`Type the total (${total}) to go on, anything else to stop: `);
  if (typed.replaceAll(/[,.' ]/g, '') === String(total)) return;
  throw new AlmonerError(
    'ALM_CLI_NOT_CONFIRMED',
    'That is not the total. Nothing was enqueued and nothing was sent.',
  );
}

/** Asks for a yes to what the refusal says; without a terminal and without --yes the refusal stands. */
export async function confirmRisk(refusal: AlmonerError, yes: boolean): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY !== true) throw refusal;
  const [said] = refusal.message.split(' Nothing was done.');
  const typed = await answerTo(
    `${[said, ...refusal.details].join('\n  ')}\nType yes to go on, anything else to stop: `,
  );
  if (typed.toLowerCase() !== 'yes') throw refusal;
}

function answerTo(question: string): Promise<string> {
  return onTerminal(async (lines) => (await lines.question(question)).trim());
}

async function onTerminal<T>(work: (lines: Interface) => Promise<T>): Promise<T> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await work(lines);
  } finally {
    lines.close();
  }
}

/** Questions on a terminal, each with a default that Enter takes. */
type Ask = (question: string, usual: string, valid: (answer: string) => string | null) => Promise<string>;

export function withQuestions<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  return onTerminal((lines) =>
    work(async (question, usual, valid) => {
      for (;;) {
        const shown = usual === '' ? '' : ` [${usual}]`;
        const answer = (await lines.question(`${question}${shown}: `)).trim() || usual;
        const fault = valid(answer);
        if (fault === null) return answer;
        process.stderr.write(`  ${fault}\n`);
      }
    }),
  );
}
