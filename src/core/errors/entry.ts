/** 0 paid · 1 bug · 2 usage or configuration · 3 input refused · 4 some orders dead · 5 halted or paused · 130 interrupted */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 130;

export type ErrorEntry = {
  /** What it means, in one sentence. */
  readonly means: string;
  /** What to do about it. */
  readonly next: string;
  readonly exit: ExitCode;
};
