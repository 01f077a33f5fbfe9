/**
 * Calls that come while another is under way leave together in the next one. Sixty orders under way make a
 * handful of script calls instead of sixty, and share their fsync; a single order waits for nobody.
 */
export class CallBatcher<Ask, Answer> {
  private waiting: Waiting<Ask, Answer>[] = [];
  private underWay = false;

  constructor(
    /** Answers each ask, in the order asked. An Error is the answer of that ask alone. */
    private readonly call: (asks: readonly Ask[]) => Promise<readonly (Answer | Error)[]>,
    /** So that no call holds the store up. */
    private readonly most: number,
  ) {}

  ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ask, resolve, reject });
      if (this.underWay) return;
      this.underWay = true;
      // What became ready in the same moment shares the first call too.
      setImmediate(() => void this.work());
    });
  }

  private async work(): Promise<void> {
    while (this.waiting.length > 0) {
      const some = this.waiting.splice(0, this.most);
      try {
        const answers = await this.call(some.map(({ ask }) => ask));
        some.forEach(({ resolve, reject }, i) => {
          const answer = answers[i];
          if (answer === undefined) reject(new Error('the script gave fewer answers than it was asked'));
          else if (answer instanceof Error) reject(answer);
          else resolve(answer);
        });
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.underWay = false;
  }
}

type Waiting<Ask, Answer> = {
  readonly ask: Ask;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
};
