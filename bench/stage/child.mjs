import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { peakMegabytes } from './almoner.mjs';
import { cpuSecondsOf } from './redis.mjs';

/** Runs a peer to its end and measures it from outside, as ours are measured. */
export async function runPeer(script, options) {
  const path = fileURLToPath(new URL(`../peers/${script}.mjs`, import.meta.url));
  return measured(
    spawn(process.execPath, [path, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

/** Seconds, largest memory and processor time of a child, with what it printed. */
export async function measured(child) {
  const begin = performance.now();
  let stdout = '';
  let peakMb = 0;
  let cpuSeconds = 0;
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const timer = setInterval(async () => {
    peakMb = Math.max(peakMb, await peakMegabytes(child.pid));
    cpuSeconds = Math.max(cpuSeconds, await cpuSecondsOf(child.pid).catch(() => 0));
  }, 50);
  const [status] = await once(child, 'close');
  clearInterval(timer);
  return { status, stdout, seconds: (performance.now() - begin) / 1000, peakMb, cpuSeconds };
}
