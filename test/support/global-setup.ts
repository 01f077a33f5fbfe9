import { spawnSync } from 'node:child_process';
import { makeRunFolders, sweep } from '../../scripts/leftovers.mjs';

/**
 * Runs once for each run of vitest: builds the program, because tests start it as processes, and creates the run's
 * folders. `npm test` does both itself and says so in the environment; it also removes the folders after Ctrl-C.
 */
export default function setup(): (() => void) | undefined {
  if (process.env.ALMONER_TEST_NO_BUILD === undefined) {
    const build = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
    if (build.status !== 0) throw new Error('the build failed; see above');
    process.env.ALMONER_TEST_NO_BUILD = '1';
  }
  if (process.env.ALMONER_TEST_MEMORY !== undefined) return undefined;
  const { memory, disk } = makeRunFolders();
  process.env.ALMONER_TEST_MEMORY = memory;
  process.env.ALMONER_TEST_DISK = disk;
  return () => {
    sweep([memory, disk]);
  };
}
