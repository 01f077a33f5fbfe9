/** Sabotages of what happens after a rollback; see sabotages.mjs. */
export const RECOVERY = [
  {
    name: 'first-sends-go-on-after-a-rollback',
    file: 'src/ledger/moves/begin-sending.lua',
    find: "  if code == 'w' and meta[5] then return { 'no', 'after-rollback' } end",
    put: '',
    test: 'test/ledger/sessions/after-rollback.test.ts',
  },
  {
    name: 'a-rollback-makes-nothing-wait',
    file: 'src/ledger/sessions/arm.lua',
    find: "redis.call('HDEL', T, 'forgot') == 1 and ARGV[4] ~= 'continue'",
    put: 'false',
    test: 'test/ledger/sessions/after-rollback.test.ts',
  },
  {
    name: 'a-restart-makes-everything-wait',
    file: 'src/ledger/sessions/arm.lua',
    find: "redis.call('HDEL', T, 'forgot') == 1 and ARGV[4] ~= 'continue'",
    put: "ARGV[4] ~= 'continue'",
    test: 'test/ledger/sessions/after-rollback.test.ts',
  },
  {
    name: 'unknown-orders-wait-after-a-rollback',
    file: 'src/ledger/moves/redispatch.lua',
    find: "(code == 'u' or code == 'p' and not waits)",
    put: "(code == 'u' or code == 'p') and not waits",
    test: 'test/ledger/sessions/after-rollback.test.ts',
  },
  {
    name: 'resumed-while-journals-are-not-merged',
    file: 'src/ledger/sessions/resume-after-rollback.lua',
    find: "if isUnmerged(T) then return { 'disarmed' } end",
    put: '',
    test: 'test/ledger/sessions/after-rollback.test.ts',
  },
  {
    name: 'a-backup-put-back-goes-on-by-itself',
    file: 'src/ledger/sessions/after-rollback.ts',
    find: "redis.hset(T, 'forgot', '1')",
    put: "redis.hset(T, 'forgotten', '1')",
    test: 'test/ledger/sessions/after-rollback.test.ts',
  },
];
