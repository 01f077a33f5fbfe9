/** 0 paid · 1 bug · 2 usage or configuration · 3 input refused · 4 some orders dead · 5 halted or paused · 130 interrupted */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 130;
export type ExitStatus = 0 | ExitCode;

export type ErrorEntry = {
  /** What it means, in one sentence. */
  readonly means: string;
  /** What to do about it. */
  readonly next: string;
  readonly exit: ExitCode;
};

const ending =
  (exit: ExitCode) =>
  (means: string, next: string): ErrorEntry => ({ means, next, exit });

export const bug = ending(1);
export const usage = ending(2);
export const refused = ending(3);
export const dead = ending(4);
export const halted = ending(5);
export const interrupted = ending(130);
