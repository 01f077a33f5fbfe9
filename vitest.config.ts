import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Long by nature: they kill, freeze, pack and install. `npm test` runs them after all others. */
const LONG = ['chaos', 'newcomer', 'package', 'simulator'].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Tests wait for conditions, not for times; a slow machine must not fail what is right.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Processes are killed and frozen here on machines of unknown load. What passes at a second try is listed at the
    // end of `npm test`, to be mended; what fails twice fails.
    retry: process.env.CI === undefined ? 0 : 1,
    // The built program runs within a test as Node loads it.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ['test/support/at-home.ts'],
    pool: 'forks',
    execArgv: ['--require', fileURLToPath(new URL('test/support/built-threads.cjs', import.meta.url))],
    // Two cores are the smallest machine this runs on; more files at once only make timing noisier.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: LONG,
          // Two processes for all of them: one for each file spent a third of the time on loading the same modules.
          isolate: false,
          restoreMocks: true,
        },
      },
      { extends: true, test: { name: 'long', include: LONG } },
    ],
  },
});
