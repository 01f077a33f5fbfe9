--[==[
  Puts a dead letter back to work. Never a doubt; never an order whose reference was spent again, whose row was
  put into another file, or whose request may still arrive.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] amount (see totals)  ARGV[4] detail JSON, with the nonce of this retry in it
  ARGV[5] shard ('' without reference)  ARGV[6] reference field hex  ARGV[7] content digest
  ARGV[8] '<seals> <retries of other batches>' of the realm when other batches and addresses were looked at ('' where nobody
    did). Those of its own batch move nothing: equal rows of one file are all meant, and compared together
  ARGV[9] the batch's id  ARGV[10] the store for which the journals were merged (see isSameStore): in another one, what was
    paid may be forgotten  ARGV[11], ARGV[12] limits of the profile ('' for none, see gate)
  ARGV[13] the person, by their token ('' where none was used)

  Returns {'ok'} | {'no', why, more}: why is a state code, 'replaced', 'discarded', 'reference', 'cancelled', 'archived',
    'approval' (an approval is required, and none counts for this dead letter as it stands), 'gone', 'disarmed' (the journals are not merged, or were for another store), 'arriving' (more: until when, ms), 'moved'
    (another batch was sealed or retried since, or another address asked), 'debt' (more: the order that is, or may be, paid for the same debt), 'limit' (more: JSON [account, limit, held, tokens])
]==]
--- @include "record"
--- @include "row"
--- @include "move"
--- @include "reference"
--- @include "second"
--- @include "debt"
--- @include "replayed"
--- @include "earlier"
--- @include "fence"
--- @include "gate"
local T, no, index, amount, detail, shard, fieldHex, digest = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local judged, id, store, limits, person = ARGV[8], ARGV[9], ARGV[10], limitsOf(ARGV[11], ARGV[12]), ARGV[13]
local tokens = totals.parse(amount)
local B = batchKey(T, no)
local record = readRecord(T, no, index)
local fields = record and decodeRecord(record) or { state = 'p' }
local state = redis.call('HGET', B, 'state')
if not isBatch(T, no, id) then return { 'no', 'gone', '' } end
-- The same retry asked twice is one retry, even when the order has gone on since.
if alreadyNoted(T, no, index, detail) then return { 'ok' } end
if fields.state ~= 'R' and fields.state ~= 'X' then return { 'no', stateOf(record, state == 'cancelled'), '' } end
local by = replacedBy(fields)
if by then return { 'no', 'replaced', redis.call('HGET', batchKey(T, by), 'id') or '' } end
local other = otherOfDebt(T, id .. '-' .. index, WAITS_OR_MAY_BE_PAID)
if other then return { 'no', 'debt', other } end
if string.find(fields.marks or '', 'd', 1, true) then return { 'no', 'discarded', '' } end
if state == 'cancelled' then return { 'no', 'cancelled', '' } end
-- Its rows are about to leave the store; what is written now would be lost with them.
if state == 'archived' then return { 'no', 'archived', '' } end
if not mayRetry(T, no, index, record, limits, nowMs()) then return { 'no', 'approval', '' } end
if isUnmerged(T) or not isSameStore(T, store) then return { 'no', 'disarmed', '' } end
local arrives = mayArriveUntil(T, record)
if arrives then return { 'no', 'arriving', arrives } end
fields.marks = string.gsub(fields.marks or '', 'a%d+', '')
local seals = redis.call('HGET', T, 'seals') or '0'
local others = counter(T, 'retries') - counter(B, 'retried')
if judged ~= '' and seals .. ' ' .. string.format('%.0f', others) ~= judged then return { 'no', 'moved', '' } end
local account = accountOf(T, no, index)
local over = account and overLimit(T, account, limitOf(T, account), tokens)
if over then return { 'no', 'limit', cjson.encode(over) } end
if shard ~= '' then
  local field = unhex(fieldHex)
  local holder = spentBy(T, shard, field, no, index)
  if holder then return { 'no', 'reference', holder } end
  takeReference(T, shard, field, digest, no, index)
end

local from = fields.state
-- A refused order has a new key, which nobody has used. One that a person called unpaid keeps the key it had, and
-- the life of that key still counts from its first use.
local key, firstUsed = string.match(fields.key, '^%d+'), keyFirstUsed(fields)
if from == 'X' and firstUsed then key = key .. '@' .. base36(firstUsed) end
writeRecord(T, no, index, encodeRecord({ state = 'w', key = key, attempts = fields.attempts,
  tries = '0', status = fields.status, marks = fields.marks, nonce = fields.nonce or '', doubt = fields.doubt }))
move(T, no, index, { from = from, to = 'w', amount = amount, before = fields, after = fields })
clearHeld(T, id .. '-' .. index)
noteRetried(T, no, index, record, person, nowMs())
redis.call('ZADD', B .. ':due', nowMs(), index)
redis.call('RPUSH', B .. ':x:' .. index, detail)
reopen(T, no)
batches.flush(T)
return { 'ok' }
