/**
 * Named points between claim and acknowledgement where a test can kill or freeze the process. This file reads no
 * environment and no setting. Unless a test's preload installs an action, a fail point costs one comparison.
 */
export const FAIL_POINTS = [
  'claimed',
  'slot-taken',
  'begun',
  'intent-written',
  'answered',
  'result-journaled',
  'settled',
  'delivered',
] as const;
/**
 * The steps of a restore: load the copy, stage it, write the note, move the former store aside, move the staged one
 * in, finish.
 */
export const RESTORE_POINTS = [
  'restore-loaded',
  'restore-staged',
  'restore-noted',
  'restore-aside',
  'restore-in',
  'restore-done',
] as const;
/**
 * All fail points. Two more occur only when an unknown order is read back: the balances were read, and the reading
 * was stored.
 */
export type FailPoint =
  | (typeof FAIL_POINTS)[number]
  | (typeof RESTORE_POINTS)[number]
  | 'balances-read'
  | 'check-noted';

let reached: ((point: FailPoint) => void) | undefined;

/** Runs the installed action, if a test installed one. */
export function failPoint(point: FailPoint): void {
  if (reached !== undefined) reached(point);
}

/** Installs the action of a test. */
export function onFailPoint(action: (point: FailPoint) => void): void {
  reached = action;
}
