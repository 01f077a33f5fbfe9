import { createInterface } from 'node:readline/promises';
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
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = (
      await lines.question(`Type the total (${total}) to go on, anything else to stop: `)
    ).trim();
    if (typed.replaceAll(/[,.' ]/g, '') === String(total)) return;
    throw new AlmonerError(
      'ALM_CLI_NOT_CONFIRMED',
      'That is not the total. Nothing was enqueued and nothing was sent.',
    );
  } finally {
    lines.close();
  }
}

/** Asks for a yes to what the refusal says; without a terminal and without --yes the refusal stands. */
export async function confirmRisk(refusal: AlmonerError, yes: boolean): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY !== true) throw refusal;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const [said] = refusal.message.split(' Nothing was done.');
    const typed = await lines.question(
      `${[said, ...refusal.details].join('\n  ')}\nType yes to go on, anything else to stop: `,
    );
    if (typed.trim().toLowerCase() !== 'yes') throw refusal;
  } finally {
    lines.close();
  }
}

/** Questions on a terminal, each with a default that Enter takes. */
type Ask = (question: string, usual: string, valid: (answer: string) => string | null) => Promise<string>;

export async function withQuestions<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ask: Ask = async (question, usual, valid) => {
    for (;;) {
      const shown = usual === '' ? '' : ` [${usual}]`;
      const typed = (await lines.question(`${question}${shown}: `)).trim();
      const answer = typed === '' ? usual : typed;
      const fault = valid(answer);
      if (fault === null) return answer;
      process.stderr.write(`  ${fault}\n`);
    }
  };
  try {
    return await work(ask);
  } finally {
    lines.close();
  }
}
