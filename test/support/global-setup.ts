import { spawnSync } from 'node:child_process';

/** Tests that start real processes run the built program, so it is built once before all of them. */
export default function setup(): void {
  if (process.env.ALMONER_TEST_NO_BUILD !== undefined) return;
  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  if (build.status !== 0) throw new Error('the build failed; see above');
}
