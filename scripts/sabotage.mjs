// npm run sabotage [-- NAME…]
// Tests the tests: each small sabotage is applied to a copy of the tree, and the test file that is there to
// notice it must fail. Nothing of the tree itself is touched.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BOOKS_AND_DESK } from './sabotages-books.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** `find` must stand in the file exactly once. `build`: the test meets it in the built program. */
const SABOTAGES = [
  {
    name: 'send-before-sending',
    file: 'src/queue/send-order.ts',
    find: '    const begun = await attempts.begin(ref, {',
    put: '    await this.request(row.order, nonce, terms.currency);\n    const begun = await attempts.begin(ref, {',
    test: 'test/chaos/fail-points.test.ts',
    build: true,
  },
  {
    name: 'any-currency-will-do',
    file: 'src/core/terms.ts',
    find: '  if (sealed.currency !== profile.currency)',
    put: "  if (sealed.currency === '')",
    test: 'test/core/terms.test.ts',
  },
  {
    name: 'the-laxer-certainty',
    file: 'src/core/terms.ts',
    find: 'CERTAINTIES.indexOf(one) > CERTAINTIES.indexOf(other)',
    put: 'CERTAINTIES.indexOf(one) < CERTAINTIES.indexOf(other)',
    test: 'test/core/terms.test.ts',
  },
  {
    name: 'halted-by-nobody',
    file: 'src/queue/batches.ts',
    find: '    return (await haltBatch(this.ledger, no, changedReason(change, this.profile.name))).state;',
    put: '    return null;',
    test: 'test/queue/seals.test.ts',
  },
  {
    name: 'former-id-not-looked-up',
    file: 'src/ledger/moves/open-batch.lua',
    find: '  if manifest and cjson.decode(manifest).currency == ARGV[7] then no = old end',
    put: '',
    test: 'test/ledger/moves/open-batch.test.ts',
  },
  {
    name: 'fed-before-former-attempts-are-back',
    file: 'src/ledger/moves/feed.lua',
    find: "if meta[9] and redis.call('HEXISTS', T .. ':parked', meta[9]) == 1 then return {} end",
    put: '',
    test: 'test/ledger/moves/roll-forward.test.ts',
  },
  {
    name: 'no-intent',
    file: 'src/ledger/moves/attempts.ts',
    find: '      await journal.intent(intent);',
    put: '      await Promise.resolve();',
    test: 'test/simulator/found.test.ts',
  },
  {
    name: 'intent-not-waited-for',
    file: 'src/ledger/journal/journal.ts',
    find: '        await writeWhole(this.file, bytes);',
    put: '        for (const { resolve } of waiting) resolve();\n        await new Promise((later) => setTimeout(later, 50));\n        await writeWhole(this.file, bytes);',
    test: 'test/ledger/journal/journal.test.ts',
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
    file: 'src/ledger/includes/hold.lua',
    find: "    redis.call('SET', T .. ':hold:' .. member, no .. ':' .. index)",
    put: "    redis.call('SET', T .. ':hold:' .. member, no .. ':' .. index, 'PX', 1)",
    test: 'test/ledger/moves/holds.test.ts',
  },
  {
    name: 'fence-off',
    file: 'src/ledger/includes/fence.lua',
    find: "  if state[1] ~= run then return 'disarmed' end",
    put: '',
    test: 'test/simulator/found.test.ts',
  },
  {
    name: 'arming-without-the-others',
    file: 'src/ledger/sessions/arm.lua',
    find: 'if #waiting > 1 then return waiting end',
    put: '',
    test: 'test/simulator/found.test.ts',
  },
  {
    name: 'results-not-merged',
    file: 'src/ledger/moves/roll-forward.ts',
    find: '  if (result !== null) return result.record;',
    put: '',
    test: 'test/simulator/found.test.ts',
  },
  {
    name: 'settle-without-nonce',
    file: 'src/ledger/moves/settle.lua',
    find: "if was[1] ~= 's' or was[6] ~= nonce then",
    put: "if was[1] ~= 's' then",
    test: 'test/ledger/moves/settle.test.ts',
  },
  {
    name: 'writes-repeated',
    file: 'src/realm/client/client.ts',
    find: '    const seen = await exchange(write, request, profile.timeouts.totalMs);',
    put: "    const first = await exchange(write, request, profile.timeouts.totalMs);\n    const kind = writeOutcome(first, key, { ...profile, currency }).kind;\n    const seen = kind === 'unknown' ? await exchange(write, request, profile.timeouts.totalMs) : first;",
    test: 'test/realm/client/sent-once.test.ts',
  },
  {
    name: 'redirects-followed',
    file: 'src/realm/client/http.ts',
    find: '    followRedirect: false,',
    put: '    followRedirect: true,\n    methodRewriting: false,',
    test: 'test/realm/client/sent-once.test.ts',
  },
  {
    name: 'orphans-planned-again',
    file: 'src/ledger/sessions/adopt-orphans.ts',
    find: 'await adoptOne(adopting, one, whole.has(one.session), store);',
    put: 'await adoptOne(adopting, one, true, store);',
    test: 'test/queue/incomplete-journals.test.ts',
  },
  {
    name: 'a-lost-socket-is-a-death',
    file: 'src/ledger/sessions/liveness.ts',
    find: "      if (answer !== 'gone') return answer === 'refused' ? 'dead' : 'alive';",
    put: "      if (answer !== undefined) return answer === 'answers' ? 'alive' : 'dead';",
    test: 'test/chaos/cleaned-socket.test.ts',
    build: true,
  },
  {
    name: 'a-network-volume-is-local',
    file: 'src/ledger/sessions/liveness.ts',
    find: '    return place.isLocal && (isAnotherBoot',
    put: '    return (isAnotherBoot',
    test: 'test/ledger/sessions/place.test.ts',
  },
  {
    name: 'a-copy-is-the-place',
    file: 'src/ledger/sessions/liveness.ts',
    find: 'if (place === undefined || place.id !== entry.placeId)',
    put: 'if (place === undefined)',
    test: 'test/ledger/sessions/place.test.ts',
  },
  {
    name: 'host-names-tell-machines-apart',
    file: 'src/ledger/sessions/liveness.ts',
    find: '    const folder = await this.folderOf(entry);',
    put: "    if (entry.machine !== (await this.machine).name) return 'elsewhere';\n    const folder = await this.folderOf(entry);",
    test: 'test/chaos/created-anew.test.ts',
    build: true,
  },
  {
    name: 'stale-balances-believed',
    file: 'src/ledger/moves/roll-forward.lua',
    find: 'if not known or loose then',
    put: 'if loose then',
    test: 'test/simulator/found.test.ts',
  },
  {
    name: 'attempts-known-by-number',
    file: 'src/ledger/moves/roll-forward.lua',
    find: "  elseif was[1] == 's' or was[1] == 'u' then",
    put: "  elseif tonumber(was[3]) >= tonumber(ARGV[5]) then\n    return { 'ahead', was[1] }\n  elseif was[1] == 's' or was[1] == 'u' then",
    test: 'test/ledger/moves/roll-forward-nonce.test.ts',
  },
  {
    name: 'old-keys-are-sent',
    file: 'src/ledger/moves/begin-sending.lua',
    find: "  if age >= tonumber(oldestMs) then return 'key-old' end",
    put: '',
    test: 'test/ledger/moves/key-age.test.ts',
  },
  {
    name: 'a-no-to-a-resend-ends-it',
    file: 'src/core/decide.ts',
    find: "      if (context.resend !== null && context.resend.settleTime !== 'over')",
    put: "      if (context.resend !== null && context.resend.settleTime === 'clocks-disagree')",
    test: 'test/core/decide.test.ts',
  },
  {
    name: 'armed-past-the-floor',
    file: 'src/ledger/sessions/recovery.ts',
    find: '  if (Object.keys(missed).length > 0) {',
    put: '  if (Object.keys(missed).length > 99) {',
    test: 'test/queue/removed-journals.test.ts',
  },
  {
    name: 'removed-without-its-answers',
    file: 'src/ledger/journal/budget.ts',
    find: '    seqs[realm] = { [era]: began ? known : 0 };',
    put: '    seqs[realm] = { [era]: 0 };',
    test: 'test/queue/removed-before-the-answer.test.ts',
  },
  {
    name: 'forgotten-batch-taken-for-new',
    file: 'src/planning/identity.ts',
    find: '  if (at === null || now',
    put: '  if (at !== 0 || now',
    test: 'test/chaos/further-back.test.ts',
    build: true,
  },
  {
    name: 'journals-beside-an-armed-ledger-ignored',
    file: 'src/ledger/sessions/recovery.ts',
    find: '  if (!behind && attempts === 0 && !gap) return false;',
    put: '  if (!behind && !gap) return false;',
    test: 'test/queue/beside-journals.test.ts',
  },
  {
    name: 'open-intents-removed',
    file: 'src/ledger/journal/budget.ts',
    find: '  if (session === own ? journal.isOpen(number) : !(await isDead(session))) return null;',
    put: '  if (session !== own && !(await isDead(session))) return null;',
    test: 'test/ledger/journal/budget.test.ts',
  },
  {
    name: 'done-stays-done',
    file: 'src/ledger/moves/roll-forward.lua',
    find: "if code == 's' or code == 'u' or code == 'w' then reopen(T, no) end",
    put: '',
    test: 'test/ledger/moves/roll-forward.test.ts',
  },
  {
    name: 'the-lost-begin-again',
    file: 'src/ledger/includes/fence.lua',
    find: "  if redis.call('HEXISTS', T .. ':lost', session) == 1 then return 'lost' end",
    put: '',
    test: 'test/ledger/sessions/accept-missing.test.ts',
  },
  {
    name: 'unpaid-too-early-is-paid-again',
    file: 'src/ledger/includes/record.lua',
    find: "  return ms and ms > nowMs() and string.format('%.0f', ms) or nil",
    put: '  return nil',
    test: 'test/ledger/moves/may-arrive.test.ts',
  },
  {
    name: 'unreached-uses-attempts',
    file: 'src/core/decide.ts',
    find: '      if (outcome.status === null) return { ...same, next:',
    put: '      if (outcome.status === -1) return { ...same, next:',
    test: 'test/core/decide.test.ts',
  },
  {
    name: 'the-missing-are-not-named',
    file: 'src/core/what-waits.ts',
    find: "  if (sign.life === 'elsewhere') return [{ ...cause, why: 'missing-session', ...missingSaid(sign) }];",
    put: '',
    test: 'test/operations/batches/waiting-sessions.test.ts',
  },
  {
    name: 'settle-time-skipped',
    file: 'src/queue/readback.ts',
    find: '        if (waited.ms < this.profile.settleMs)',
    put: '        if (waited.ms < 0)',
    test: 'test/simulator/found.test.ts',
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
    file: 'src/queue/readback.ts',
    find: 'if (should !== was)',
    put: 'if (should === undefined)',
    test: 'test/queue/readback.test.ts',
  },
  {
    name: 'another-currency-read',
    file: 'src/realm/client/answer-body.ts',
    find: 'if (profile.currency !== null) return',
    put: 'if (profile.currency !== null && isJsonObject(balances)) return',
    test: 'test/realm/client/balance.test.ts',
  },
  {
    name: 'unread-for-ever',
    file: 'src/queue/unread.ts',
    find: 'counts && tries >= this.profile.attempts.max',
    put: 'counts && tries < 0',
    test: 'test/queue/unread-unknown.test.ts',
  },
  {
    name: 'silence-burns-orders',
    file: 'src/ledger/moves/turn-down.lua',
    find: "if ends and redis.call('HEXISTS', T, 'breaker') == 1 then to, detail = from, '' end",
    put: '',
    test: 'test/queue/unread.test.ts',
  },
  {
    name: 'doubts-leave-no-mark',
    file: 'src/ledger/moves/conclude.lua',
    find: "if to == 'D' then voidHeld(T, no, index, now) end",
    put: '',
    test: 'test/queue/readback.test.ts',
  },
  {
    name: 'far-away-jobs-are-alive',
    file: 'src/queue/sweep.ts',
    find: '[nowMs - PROMOTED_WITHIN_MS, nowMs + LONGEST_PAUSE_MS]',
    put: '[0, nowMs + 100 * LONGEST_PAUSE_MS]',
    test: 'test/chaos/clock-steps.test.ts',
    build: true,
  },
  {
    name: 'slots-of-the-dead-wait',
    file: 'src/ledger/moves/free-slots.lua',
    find: "  if kind == 'g' and",
    put: '  if false and',
    test: 'test/chaos/slots-of-the-dead.test.ts',
    build: true,
  },
  {
    name: 'slots-lost-with-a-reply',
    file: 'src/ledger/moves/take-slot.lua',
    find: "if ARGV[8] == '1' then",
    put: 'if false then',
    test: 'test/ledger/moves/free-slots.test.ts',
  },
  {
    name: 'closed-before-it-is-noted',
    file: 'src/runtime/app.ts',
    find: '    await this.scripts.settled();\n',
    put: '',
    test: 'test/cli/reads-at-the-pace.test.ts',
    build: true,
  },
  {
    name: 'a-watcher-stays-registered',
    file: 'src/operations/pay/run-batch.ts',
    find: '    await session.deregister(ref.ledger);',
    put: '    await Promise.resolve();',
    test: 'test/operations/pay/second-run.test.ts',
  },
  {
    name: 'parked-at-every-look',
    file: 'src/ledger/journal/merge.ts',
    find: "if (no === undefined) return (await isParked(ledger, intent)) ? 'known' : 'forgotten';",
    put: "if (no === undefined) return 'forgotten';",
    test: 'test/queue/beside-journals.test.ts',
  },
  {
    name: 'any-sum-fits-a-day',
    file: 'src/ledger/moves/begin-sending.lua',
    find: '(capped and tonumber(cap) or DAY_MOST)',
    put: '(capped and tonumber(cap) or math.huge)',
    test: 'test/ledger/moves/day-sums.test.ts',
  },
  {
    name: 'sealed-without-a-block',
    file: 'src/ledger/moves/seal-batch.lua',
    find: "then return { 'incomplete' } end",
    put: 'then end',
    test: 'test/ledger/moves/seal-batch.test.ts',
  },
  {
    name: 'unsafe-while-rewriting',
    file: 'src/runtime/redis/safety.ts',
    find: "config.values.get('no-appendfsync-on-rewrite')",
    put: "config.values.get('')",
    test: 'test/runtime/redis/safety.test.ts',
  },
  {
    name: 'recover-is-not-waited-for',
    file: 'src/operations/services/recover.ts',
    find: '    await session.register(ledger, profile.settleMs);',
    put: '',
    test: 'test/queue/recovering-command.test.ts',
  },
  {
    name: 'old-rows-under-a-new-past',
    file: 'src/ledger/read/plan-reader.ts',
    find: '    this.blocks = newCache();\n    this.named = newCache();',
    put: '    this.blocks = newCache();',
    test: 'test/queue/rows-of-a-forgotten-batch.test.ts',
  },
  {
    name: 'all-that-is-parked-forgotten',
    file: 'src/ledger/journal/unpark.lua',
    find: "for _, nonce in ipairs(cjson.decode(ARGV[2])) do redis.call('HDEL', parked, nonce) end",
    put: "redis.call('DEL', parked)",
    test: 'test/queue/parked-by-two.test.ts',
  },
  {
    name: 'given-up-in-any-store',
    file: 'src/ledger/sessions/accept-missing.ts',
    find: 'forgetSession(ledger, session, store)',
    put: 'forgetSession(ledger, session)',
    test: 'test/queue/given-up-elsewhere.test.ts',
  },
  {
    name: 'dead-letters-stay-certain',
    file: 'src/ledger/moves/give-up.lua',
    find: 'local dead = isRow(rows, index) and mayBeRetried(was, index, ARGV[i + 3])',
    put: 'local dead = false',
    test: 'test/queue/given-up-elsewhere.test.ts',
  },
  {
    name: 'taken-back-for-ever',
    file: 'src/ledger/sessions/recovery.ts',
    find: 'own === undefined ? null : { session: own.head.session, underWay }',
    put: 'null',
    test: 'test/simulator/found.test.ts',
  },
  {
    name: 'silence-is-waited-for',
    file: 'src/runtime/redis/connections.ts',
    find: "socketTimeout: purpose === 'ledger' ? answerMs : answerMs + BLOCKING_MAX_MS",
    put: 'socketTimeout: 3_600_000 + answerMs + BLOCKING_MAX_MS',
    test: 'test/runtime/redis/silent.test.ts',
  },
  {
    name: 'another-era-is-not-merged',
    file: 'src/operations/services/merge.ts',
    find: 'then.run === run && then.era === era && then.seq <= seq',
    put: 'true',
    test: 'test/chaos/library-restarted-store.test.ts',
  },
  {
    name: 'a-number-is-taken-for-the-batch',
    file: 'src/ledger/read/batches.ts',
    find: ' || meta.id !== ref.id',
    put: '',
    test: 'test/ledger/read/reused-number.test.ts',
  },
  {
    name: 'a-letter-of-another-batch-is-retried',
    file: 'src/ledger/moves/retry.lua',
    find: 'if not isBatch(T, no, ARGV[9]) then',
    put: 'if false then',
    test: 'test/ledger/read/reused-number.test.ts',
  },
  {
    name: 'a-letter-is-retried-in-another-store',
    file: 'src/ledger/moves/retry.lua',
    find: 'if isUnmerged(T) or not isSameStore(T, ARGV[10]) then',
    put: 'if isUnmerged(T) then',
    test: 'test/ledger/read/reused-number.test.ts',
  },
  {
    name: 'a-plan-compared-with-nothing-is-stored',
    file: 'src/planning/store-plan.ts',
    find: '  if (!plan.compares && !plan.putBack)',
    put: '  if (plan.sheet === null)',
    test: 'test/planning/seal-again.test.ts',
  },
  {
    name: 'strays-in-a-full-window-lower-the-limit',
    file: 'src/ledger/includes/refusals.lua',
    find: ' or passes > 1 + near * refusals then',
    put: ' then',
    test: 'test/ledger/moves/refusals.test.ts',
  },
  {
    name: 'a-limit-is-never-given-up',
    file: 'src/ledger/includes/refusals.lua',
    find: '  if tried and count >= more then return giveUp(given) end',
    put: '  if tried and count < 0 then return giveUp(given) end',
    test: 'test/ledger/moves/refusals.test.ts',
  },
  {
    name: 'one-refusal-is-a-limit',
    file: 'src/ledger/includes/refusals.lua',
    find: 'local SAME_COUNT, SAME_INTERVAL = 2, 3',
    put: 'local SAME_COUNT, SAME_INTERVAL = 1, 3',
    test: 'test/ledger/moves/refusals.test.ts',
  },
  {
    name: 'another-batch-is-steered-by-its-number',
    file: 'src/ledger/moves/steer.lua',
    find: 'not isBatch(T, no, ARGV[9])',
    put: 'false',
    test: 'test/ledger/read/reused-number.test.ts',
  },
  {
    name: 'what-never-began-is-waited-for',
    file: 'src/ledger/sessions/register.lua',
    find: "  if ARGV[5] == 'has begun nothing' then",
    put: '  if false then',
    test: 'test/ledger/sessions/fence.test.ts',
  },
  {
    name: 'a-watcher-leaves-while-it-is-sent',
    file: 'src/operations/pay/run-batch.ts',
    find: "    if (isStill(view)) return 'still';",
    put: "    if (view.state !== 'running' && view.state !== 'planned') return 'still';",
    test: 'test/library/slow-realm.test.ts',
  },
  ...BOOKS_AND_DESK,
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
    const env = { ...process.env, ALMONER_TEST_DIST: 'dist', ALMONER_TEST_NO_BUILD: '1' };
    if (sabotage.build) {
      // Types may not survive a sabotage; what counts is that the program runs.
      spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', 'dist'], { cwd: tree });
      cpSync(join(tree, 'src'), join(tree, 'dist'), {
        recursive: true,
        filter: (from) => !/\.tsx?$/.test(from),
      });
    } else symlinkSync(join(ROOT, 'dist'), join(tree, 'dist'));
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

// What is sabotaged in the sources only meets a sound build, so that no test fails for the lack of one.
const build = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs')], { stdio: 'inherit' });
if (build.status !== 0) process.exit(1);

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
