import { readFile } from 'node:fs/promises';

/** Returns whether a signal has stopped (frozen) the process. */
export async function isStopped(pid: number | undefined): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /^\d+ \(.*\) T/.test(text);
}
