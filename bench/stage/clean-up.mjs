import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithNpm, sweep } from '../../scripts/leftovers.mjs';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/**
 * Every temporary file of this process and of those that it starts lies in one folder from here on. However this
 * process ends (its end, an error, Ctrl-C, SIGTERM), it kills the processes of that folder and removes it. Only a
 * SIGKILL of this process itself leaves them.
 */
export function cleanUpAtExit() {
  const folder = mkdtempSync(join(tmpdir(), 'alm-'));
  process.env.TMPDIR = folder;
  process.once('exit', () => {
    sweep([folder]);
  });
  for (const [signal, exitCode] of Object.entries(EXIT_CODES))
    process.once(signal, () => process.exit(exitCode));
  endWithNpm(() => process.exit(EXIT_CODES.SIGTERM));
}
