/** Sabotages of the questions before an order is sent, one for each; see sabotages.mjs. Others stand beside what they are about. */
const MAY_SEND = 'src/ledger/includes/may-send.lua';
const CLAIM = 'test/ledger/moves/claim.test.ts';
const BEGIN = 'test/ledger/moves/begin-sending.test.ts';

const question = (name, find, test, put = '') => ({ name, file: MAY_SEND, find, put, test });

export const SENDING = [
  question(
    'sent-into-a-closed-ledger',
    '    if realm.closed then return refuse(realm.closed) end\n',
    'test/ledger/sessions/fence.test.ts',
  ),
  question('sent-to-a-halted-realm', "    if realm.isHalted then return refuse('halted') end\n", BEGIN),
  question(
    'sent-while-the-breaker-is-open',
    "    if realm.isProbed and (isFirst or ask.sends) then return refuse('breaker') end\n",
    CLAIM,
  ),
  question('resent-while-the-breaker-is-open', '(isFirst or ask.sends)', BEGIN, 'isFirst'),
  question('sent-under-the-number-of-another-batch', ' or order.batch and order.batch ~= batch.id', BEGIN),
  question(
    'sent-of-a-batch-that-stands-still',
    "  if not ask.states[batch.state] and not (batch.state == 'cancelled' and order.code == 'u') then return refuse('batch', batch.state) end\n",
    BEGIN,
  ),
  question(
    'an-unknown-of-a-cancelled-batch-is-left',
    " and not (batch.state == 'cancelled' and order.code == 'u')",
    CLAIM,
  ),
  question(
    'sent-by-the-run-of-another',
    "  if not ask.owners[batch.owner] then return refuse('owner') end\n",
    BEGIN,
  ),
  question(
    'sent-although-it-has-ended',
    "  if not isFirst and not order.isResolved then return refuse('order', order.code) end\n",
    BEGIN,
  ),
  question(
    'sent-although-it-was-taken-back',
    "    if not due then return refuse('not-due') end\n",
    'test/ledger/moves/holds.test.ts',
    '    if not due then return nil end\n',
  ),
  question(
    'sent-before-its-time',
    "    if isPause(early) then return refuse('early', string.format('%.0f', early)) end\n",
    CLAIM,
  ),
  question(
    'sent-in-quiet-hours',
    "    if quiet then return refuse('quiet', string.format('%.0f', quiet)) end\n",
    'test/ledger/moves/quiet.test.ts',
  ),
  question(
    'sent-while-another-holds-its-member',
    'return ask.members and ask.members(batch, order)\n    or',
    'test/ledger/moves/holds.test.ts',
    'return',
  ),
  question(
    'sent-after-its-hold-was-given-up',
    '    or ask.hold and ask.hold(batch, order)\n',
    'test/ledger/moves/holds.test.ts',
  ),
  question('sent-out-of-turn', '    or ask.turn and ask.turn(batch, order)\n', BEGIN),
  question(
    'resent-without-a-look-at-its-key',
    '    or ask.key and ask.key(batch, order)\n',
    'test/ledger/moves/key-age.test.ts',
  ),
  question(
    'sent-without-a-look-at-other-payments',
    '    or ask.payment and ask.payment(batch, order)\n',
    'test/ledger/moves/begin-reference.test.ts',
  ),
  question(
    'sent-beyond-the-cap-of-the-day',
    '    or ask.day and ask.day(batch, order)\n',
    'test/ledger/moves/day-sums.test.ts',
  ),
  question(
    'sent-and-fed-without-an-approval',
    '    or ask.gate and ask.gate(batch, order)\n',
    'test/ledger/moves/gate.test.ts',
  ),
  {
    name: 'a-batch-after-a-rollback-looks-as-if-it-ran',
    file: 'src/core/may-send.ts',
    find: "  if (waitsForPerson) found.push('after-rollback');\n",
    put: '',
    test: 'test/ledger/sessions/after-rollback.test.ts',
  },
  {
    name: 'resume-is-offered-where-it-is-refused',
    file: 'src/core/may-send.ts',
    find: "  if (acts.has('recover') || acts.has('resume-realm')) return new Set(['recover']);\n",
    put: '',
    test: 'test/core/may-send.test.ts',
  },
];
