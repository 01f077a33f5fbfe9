// npm run sabotage [-- NAME…]
// Tests the tests: each small sabotage is applied to a copy of the tree, and the test file that is there to
// notice it must fail. Nothing of the tree itself is touched.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** `find` must stand in the file exactly once. `build`: the test runs the real program. */
const SABOTAGES = [
  {
    name: 'send-before-sending',
    file: 'src/queue/order-runner.ts',
    find: '    const begun = await door.begin(ref, manifest.batch, {',
    put: '    await this.send(row.order, nonce);\n    const begun = await door.begin(ref, manifest.batch, {',
    test: 'test/chaos/fail-points.test.ts',
    build: true,
  },
  {
    name: 'no-intent',
    file: 'src/ledger/door.ts',
    find: '      await journal.intent(intent);',
    put: '      await Promise.resolve();',
    test: 'test/chaos/recovery.model.test.ts',
  },
  {
    name: 'intent-not-waited-for',
    file: 'src/ledger/journal.ts',
    find: '        await writeWhole(this.file, bytes);',
    put: '        for (const { resolve } of waiting) resolve();\n        await new Promise((later) => setTimeout(later, 50));\n        await writeWhole(this.file, bytes);',
    test: 'test/ledger/journal.test.ts',
  },
  {
    name: 'time-out-is-not-applied',
    file: 'src/core/classify.ts',
    find: "  if (facts.cause === 'time-out') return unknown('ALM_SEND_TIMEOUT');",
    put: "  if (facts.cause === 'time-out') return { kind: 'not-sent', code: 'ALM_SEND_NOT_SENT' };",
    test: 'test/core/classify.test.ts',
  },
  {
    name: 'hold-with-expiry',
    file: 'src/ledger/lua/includes/hold.lua',
    find: "    redis.call('SET', T .. ':hold:' .. member, no .. ':' .. index)",
    put: "    redis.call('SET', T .. ':hold:' .. member, no .. ':' .. index, 'PX', 1)",
    test: 'test/ledger/holds.test.ts',
  },
  {
    name: 'fence-off',
    file: 'src/ledger/lua/includes/fence.lua',
    find: "  if state[1] ~= run then return 'disarmed' end",
    put: '',
    test: 'test/chaos/recovery.model.test.ts',
  },
  {
    name: 'arming-without-the-others',
    file: 'src/ledger/lua/arm-1.lua',
    find: 'if #waiting > 1 then return waiting end',
    put: '',
    test: 'test/chaos/recovery.model.test.ts',
  },
  {
    name: 'results-not-merged',
    file: 'src/ledger/merge.ts',
    find: '  if (result !== null) return result.record;',
    put: '',
    test: 'test/chaos/recovery.model.test.ts',
  },
  {
    name: 'settle-without-nonce',
    file: 'src/ledger/lua/settle-1.lua',
    find: "if was[1] ~= 's' or was[6] ~= nonce then",
    put: "if was[1] ~= 's' then",
    test: 'test/ledger/lua/settle.test.ts',
  },
  {
    name: 'writes-repeated',
    file: 'src/realm/client/client.ts',
    find: '    return writeOutcome(await exchange(write, request, profile.timeouts.totalMs), key, profile);',
    put: "    const first = writeOutcome(await exchange(write, request, profile.timeouts.totalMs), key, profile);\n    if (first.kind !== 'unknown') return first;\n    return writeOutcome(await exchange(write, request, profile.timeouts.totalMs), key, profile);",
    test: 'test/realm/client/sent-once.test.ts',
  },
  {
    name: 'redirects-followed',
    file: 'src/realm/client/instances.ts',
    find: '    followRedirect: false,',
    put: '    followRedirect: true,\n    methodRewriting: false,',
    test: 'test/realm/client/sent-once.test.ts',
  },
  {
    name: 'orphans-planned-again',
    file: 'src/queue/orphans.ts',
    find: '        const open = merged.has(session)',
    put: '        const open = merged !== undefined',
    test: 'test/queue/orphans.test.ts',
  },
  {
    name: 'a-lost-socket-is-a-death',
    file: 'src/ledger/liveness.ts',
    find: "  if (answer !== 'gone') return answer === 'refused' ? 'dead' : 'alive';",
    put: "  if (answer !== undefined) return answer === 'answers' ? 'alive' : 'dead';",
    test: 'test/chaos/cleaned-socket.test.ts',
    build: true,
  },
  {
    name: 'stale-balances-believed',
    file: 'src/ledger/lua/roll-forward-1.lua',
    find: 'if not known then\n  for _, member',
    put: 'if false then\n  for _, member',
    test: 'test/chaos/recovery.model.test.ts',
  },
  {
    name: 'attempts-nobody-knows-count',
    file: 'src/ledger/lua/roll-forward-1.lua',
    find: "if code ~= 'P' and (ahead > 0 or (ahead == 0 and was[1] ~= 's')) then",
    put: 'if ahead >= 0 then',
    test: 'test/chaos/recovery.model.test.ts',
  },
  {
    name: 'settle-time-skipped',
    file: 'src/queue/readback.ts',
    find: '        if (waited.ms < this.profile.settleMs)',
    put: '        if (waited.ms < 0)',
    test: 'test/chaos/recovery.model.test.ts',
  },
  {
    name: 'one-side-is-enough',
    file: 'src/queue/readback.ts',
    find: "  return others.every((story) => story === first) ? first : 'other';",
    put: '  return others.length >= 0 ? first : first;',
    test: 'test/queue/readback.test.ts',
  },
  {
    name: 'meddling-ignored',
    file: 'src/queue/balance-watch.ts',
    find: 'if (should !== VOID && should !== was)',
    put: 'if (should !== VOID && should === undefined)',
    test: 'test/queue/readback.test.ts',
  },
  {
    name: 'far-away-jobs-are-alive',
    file: 'src/queue/sweeper.ts',
    find: '[nowMs - PROMOTED_WITHIN_MS, nowMs + LONGEST_PAUSE_MS]',
    put: '[0, nowMs + 100 * LONGEST_PAUSE_MS]',
    test: 'test/chaos/clock-steps.test.ts',
    build: true,
  },
];

const COPIED = [
  'src',
  'test',
  'scripts',
  'jobs',
  'docs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
];

function attempt(sabotage) {
  const tree = mkdtempSync(join(ROOT, '.build-sabotage-'));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(tree, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    const path = join(tree, sabotage.file);
    const text = readFileSync(path, 'utf8');
    if (text.split(sabotage.find).length !== 2) return 'the place to sabotage is not there exactly once';
    writeFileSync(
      path,
      text.replace(sabotage.find, () => sabotage.put),
    );
    const env = {
      ...process.env,
      ALMONER_TEST_DIST: 'dist',
      MODEL_FIRST_WILL_DO: '1',
      ...(sabotage.build ? {} : { ALMONER_TEST_NO_BUILD: '1' }),
    };
    if (sabotage.build) {
      // Types may not survive a sabotage; what counts is that the program runs.
      spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', 'dist'], { cwd: tree });
      cpSync(join(tree, 'src'), join(tree, 'dist'), {
        recursive: true,
        filter: (from) => !/\.tsx?$/.test(from),
      });
      env.ALMONER_TEST_NO_BUILD = '1';
    }
    const run = spawnSync('npx', ['vitest', 'run', '--bail=1', sabotage.test], {
      cwd: tree,
      env,
      encoding: 'utf8',
    });
    const ran = /Tests\s+.*(failed|passed)/.test(run.stdout.replaceAll(/\u001b\[[0-9;]*m/g, ''));
    if (!ran) return `the test did not run:\n${run.stdout.slice(-2_000)}${run.stderr.slice(-2_000)}`;
    return run.status === 0 ? 'NOT noticed' : null;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
let missed = 0;
for (const sabotage of SABOTAGES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const fault = attempt(sabotage);
  if (fault !== null) missed += 1;
  console.log(
    `${fault === null ? 'noticed' : 'MISSED '}  ${sabotage.name.padEnd(28)} by ${sabotage.test}${fault === null ? '' : `: ${fault}`}`,
  );
}
console.log(missed === 0 ? 'Every sabotage was noticed.' : `${missed} sabotages were not noticed.`);
process.exit(missed === 0 ? 0 : 1);
