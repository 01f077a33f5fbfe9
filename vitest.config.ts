import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { testServers } from './scripts/test-servers.mjs';
import { LongestFirst } from './test/support/longest-first.js';

/** Long by nature: long chaos, a packed install, each command as a process, large files. */
const LONG = ['test/**/*.long.test.ts'];
/**
 * In both suites: the pages in a browser, and every test file that reads `support/suites.js`. `quick` plays fixed seeds shortly,
 * looks at pages once and leaves out whatever stands behind `isLong`; `long` plays random seeds at full length and looks at
 * pages in every size and colour.
 */
const BOTH = ['test/browser/*.test.ts', ...filesThatAskForTheirSuite()];

function filesThatAskForTheirSuite(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .filter((file) => readFileSync(file, 'utf8').includes('support/suites.js'));
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Tests wait for conditions, not for times; a slow machine must not fail a test that is right.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A test that needs a second try is a defect of the test or of the program.
    retry: 0,
    // The built program runs within a test as Node loads it.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ['test/support/file-bounds.ts'],
    pool: 'forks',
    execArgv: ['--require', fileURLToPath(new URL('test/support/built-threads.cjs', import.meta.url))],
    // Two cores are the smallest machine this runs on. Two files at once leave a third of both cores idle, because
    // tests wait for processes, sockets and servers; three use nearly all of it.
    maxWorkers: 3,
    // Files share three processes: one process for each file spent a third of the time on loading the same modules.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: LONG,
          env: { ALMONER_TEST_SUITE: 'quick' },
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: [...LONG, ...BOTH],
          env: { ALMONER_TEST_SUITE: 'long' },
          // The long suite waits more than it computes.
          maxWorkers: 4,
          sequence: { sequencer: LongestFirst, groupOrder: 1 },
        },
      },
      ...testServers().map(({ project, program }) => ({
        extends: true as const,
        test: {
          name: project,
          include: ['test/{ledger,queue,runtime/redis}/**/*.test.ts'],
          exclude: LONG,
          env: { ALMONER_TEST_SUITE: 'quick', ALMONER_TEST_SERVER: program },
        },
      })),
    ],
  },
});
