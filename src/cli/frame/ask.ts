import { createInterface } from 'node:readline/promises';

/** Questions on a terminal, each with a default that Enter takes. */
export type Ask = (
  question: string,
  usual: string,
  valid: (answer: string) => string | null,
) => Promise<string>;

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
