/** One thing that `almoner doctor` looks at. A check never throws for what it is there to find. */
export type Check = { readonly name: string; run(): Promise<CheckResult> };

export type CheckResult =
  | { readonly state: 'ok'; readonly message: string }
  | { readonly state: 'warning' | 'failed'; readonly message: string; readonly remedy: string };

export const ok = (message: string): CheckResult => ({ state: 'ok', message });
export const warning = (message: string, remedy: string): CheckResult => ({
  state: 'warning',
  message,
  remedy,
});
export const failed = (message: string, remedy: string): CheckResult => ({
  state: 'failed',
  message,
  remedy,
});
