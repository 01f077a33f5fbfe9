const GATE = 'src/ledger/includes/gate.lua';
const APPROVAL = 'src/ledger/moves/approval.lua';
const TEST = 'test/ledger/moves/gate.test.ts';

/** What an approval covers, and who may give it. */
export const APPROVALS = [
  {
    name: 'approved-whatever-was-shown',
    file: APPROVAL,
    find: 'if request.hash ~= hash or',
    put: 'if hash == nil or',
    test: TEST,
  },
  {
    name: 'approved-whatever-is-sealed',
    file: APPROVAL,
    find: "(kind == 'batch' and redis.call('HGET', B, 'confirmed') ~= hash)",
    put: "(kind == 'batch' and hash == nil)",
    test: TEST,
  },
  {
    name: 'approved-by-its-preparer',
    file: APPROVAL,
    find: 'if isSamePerson(request.who, who) then',
    put: 'if request.who == nil then',
    test: TEST,
  },
  {
    name: 'approved-without-a-first-person',
    file: APPROVAL,
    find: "if request.who == '' then",
    put: 'if request.who == nil then',
    test: TEST,
  },
  {
    name: 'retry-approved-after-it-moved',
    file: APPROVAL,
    find: 'if not indexes then return',
    put: 'if hash == nil then return',
    test: TEST,
  },
  {
    name: 'revoked-and-still-approved',
    file: APPROVAL,
    find: 'request.approved, isFound = nil, true',
    put: 'isFound = true',
    test: TEST,
  },
  {
    name: 'retry-of-whatever-it-is-by-now',
    file: GATE,
    find: ' and sha == redis.sha1hex(record)',
    put: '',
    test: TEST,
  },
  {
    name: 'retry-after-its-approval-ended',
    file: GATE,
    find: 'ends ~= nil and now < tonumber(ends)',
    put: 'ends ~= nil',
    test: TEST,
  },
  {
    name: 'sender-asks-for-no-approval',
    file: GATE,
    find: 'if isRequired(limits) and not isAlone then',
    put: "if isRequired(limits) and not isAlone and b[4] == '' then",
    test: TEST,
  },
  {
    name: 'alone-file-by-file',
    file: GATE,
    find: '      allRows, allTokens = allRows + tonumber(r), allTokens + tonumber(t)\n',
    put: '',
    test: TEST,
  },
  {
    name: 'alone-day-by-day',
    file: GATE,
    find: '  if now - at < DAY_MS then return end\n',
    put: '  if now then return end\n',
    test: TEST,
  },
  {
    name: 'schedule-paid-alone',
    file: GATE,
    find: 'local who = not b[6] and b[4]',
    put: 'local who = b[4]',
    test: TEST,
  },
  {
    name: 'approval-without-an-end',
    file: 'src/ledger/includes/approvals.lua',
    find: "type(request.approved) == 'table' and now < request.approved.ends",
    put: "type(request.approved) == 'table'",
    test: TEST,
  },
  {
    name: 'approval-used-twice',
    file: 'src/ledger/moves/retry.lua',
    find: "redis.call('HDEL', B .. ':retries', index)\n",
    put: '',
    test: TEST,
  },
  {
    name: 'members-swapped-before-the-approval',
    file: 'src/operations/rules/before-go.ts',
    find: '    members: audience,\n',
    put: '',
    test: 'test/operations/four-eyes.model.test.ts',
  },
  {
    name: 'retry-without-a-limit',
    file: 'src/operations/dead/retry-discard.ts',
    find: 'limits.set(ledger.id, requirementOf(profile));',
    put: 'limits.set(ledger.id, NO_LIMITS);',
    test: 'test/desk/retry-approval.test.ts',
  },
];
