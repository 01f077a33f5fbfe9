--[==[
  Puts one attempt of a journal back into the ledger. An attempt is known by its nonce, never by its number: after
  a rollback the same number may have been given to another one, and both may have left. The ledger knows an
  attempt when its record or its history names the nonce. None of begin's conditions is asked: it has been sent.

    known, being sent            settled by what the journal says
    known, and given up since    its answer, where the journal has one, counts: it is about this very attempt
    known otherwise              stays as it is, but paid is paid, whatever the ledger says
    not known                    paid is paid; what may have been applied makes the order unknown, whatever it
                                 was before, and it never waits to be sent again by this; a definite no is
                                 taken only where the order waits and the ledger is behind
    beside one that was paid     a second payment, proven or possible, which is said once and changes nothing
    not known to an archive      the same: nothing moves in an archived batch
    of a row that was left out   as of a planned one where it was paid, and what it is a duplicate of was not; otherwise the same
    another order stands there   it has no place of its own, and keeps the same debt from being paid again all the same
    of a batch that is not here  the order is put into a recovered batch under the same id (see recovered), as planned,
                                 and then moves like any other; what was to be tried again is exhausted there

  KEYS[1] the realm
  ARGV[1] batch id  ARGV[2] index  ARGV[3] nonce  ARGV[4] attempts  ARGV[5] amount (see totals)
  ARGV[6] new record, without its nonce: settled; u or D for an intent without result; s while it is under way
  ARGV[7] due at, ms from now  ARGV[8] detail JSON, with the nonce in it ('' while it is under way)
  ARGV[9] JSON {fits: the batch no whose sealed row is this order|null, archived: the record in the archive ('' where it has none)|null,
    misfit: another order stands in that row, duplicateOf: the order that it is a duplicate of here|null,
    debt: what equal orders have in common (see replayed), ref: {shard, fieldHex, digest}|null, undoes: [shard, hex, no, index, account]|null,
    members: [...] to hold while it is sent or unknown, unknown: 'u' | 'D' (what an unknown becomes),
    honoured: the realm answers a key again, session: that sent it, settleMs: for how long it may arrive, answered: the journal has an answer to it, requests, retries, limited,
    order: what a recovered batch needs of it}
    T:keptHeld  '<holder>:<index>' → '<tokens> <account>': what such a payment, and one of an archived batch, holds of its rule's
                account; its record does not tell
    T:b:m<id>   payments under that id of orders which are not in its batch, in 'second' as those of an archived batch;
                references name it as one, and it is in no list
    T:misfits   ids of orders that a journal knows with other content than their row has here

  Returns {'ok', state code, next orders JSON} | {'ahead', state code} | {'second', state code} | {'misfit'} (another
  order stands there) | {'again'} (the batch was sealed or forgotten since it was looked at) |
  {'older'} | {'newer'} (another version has written the ledger)
]==]
--- @include "record"
--- @include "row"
--- @include "format"
--- @include "move"
--- @include "reference"
--- @include "hold"
--- @include "recovered"
--- @include "second"
--- @include "debt"
--- @include "replayed"
local T, id, index, nonce, amount = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local given = { attempts = tonumber(ARGV[4]), record = ARGV[6], dueIn = ARGV[7], detail = ARGV[8], facts = ARGV[9] }
local tokens = totals.parse(amount)
local other = otherFormat(T)
if other then return { other } end
if not isRow(math.huge, index) then return redis.error_reply('ERR index: no row has it') end
local facts = cjson.decode(given.facts)
local now = nowMs()
local no = redis.call('HGET', T .. ':batches', id)
local isSealed = no and isSealedBatch(T, no)
if (isSealed and no or cjson.null) ~= facts.fits then return { 'again' } end
local isMisfit = facts.misfit
if not isSealed then
  no = recoveredBatch(T, no, id, facts.order, now)
  isMisfit = not recoverOrder(T, no, index, tokens, facts.order)
end
local function answer(reply)
  batches.flush(T)
  return reply
end

local B = batchKey(T, no)
local batch = {}
batch.state, batch.rows, batch.putBack = unpack(redis.call('HMGET', B, 'state', 'rows', 'putBack'), 1, 3)

local isArchived = batch.state == 'archived'
isMisfit = isMisfit or (not isArchived and not isRow(batch.rows, index))
if isArchived ~= (type(facts.archived) == 'string') then return answer({ 'again' }) end
local old = readRecord(T, no, index)
if isArchived then old = facts.archived ~= '' and facts.archived end
local was = old and decodeRecord(old) or blankFields()
local from = stateOf(old, batch.state == 'cancelled')
local new = decodeRecord(given.record)
local code = new.state
local mayBeApplied = code == 's' or code == 'u' or code == 'D'
if mayBeApplied then keepLimits(T, facts.session, facts.settleMs) end
local ref = type(facts.ref) == 'table' and { shard = facts.ref.shard, field = unhex(facts.ref.fieldHex), digest = facts.ref.digest }
local known = isAttempt(was, nonce)
local noted = known or attemptNoted(T, no, index, nonce)
local met = false
local sameKey = string.match(was.key, '^%d+') == string.match(new.key, '^%d+')

--- Noted, so that the same journal says it once.
local function note()
  if given.detail == '' or isArchived then return end
  noteDetail(T, no, index, given.detail)
  noteAttempt(T, no, index, nonce)
end

--- The ledger knows enough. Noted all the same: what was looked at once is known from then on.
local function ahead()
  if not noted then note() end
  return { 'ahead', was.state }
end

--- Two attempts that may both have left: the history names each, and the record none, so that whatever one of them
--- hears later, short of having paid, ends nothing.
local function noteMet(attempt, session, key)
  noteDetail(T, no, index, cjson.encode({ event = 'orphaned', at = now, attempt = attempt, session = session,
    key = id .. '-' .. index .. '.' .. string.match(key, '^%d+'), code = 'ALM_SEND_OWNER_DIED',
    message = 'two attempts on this order may both have left; what one of them hears does not speak for the other' }))
  noteAttempt(T, no, index, attempt)
end

--- Its request may arrive from now on as well, and nobody knows when.
local function mayArrive()
  voidMembers(T, facts.members, now + settleMs(T))
end

local function isPaidAt(holderNo, at)
  return isPaidHolder(T, ':' .. holderNo .. ':' .. at)
end

--- Its row was left out because of an order that has not been paid: it is the payment of both, or may be.
local function isOfUnpaidDuplicate()
  local originalNo, at = placeOf(T, facts.duplicateOf)
  local isPayment = code == 'P' or (mayBeApplied and not noted)
  return was.state == 'd' and isPayment and not isArchived and not (originalNo and isPaidAt(originalNo, at))
end

local function isOfPaid()
  return was.state == 'P' or was.state == 'i' or (was.state == 'd' and not isOfUnpaidDuplicate())
end

local function saySecond(attempt, isProven, isTwice, why)
  return (isTwice and sayTwice or sayAfterAll)(T, no, index, attempt, isProven, why)
end

--- Puts the order, or the payment without one, into one debt with all that it has to do with.
local function joinAll(self)
  local function add(order)
    local batch, at = string.match(type(order) == 'string' and order or '', '^(.*)%-(%d+)$')
    if not batch then return end
    joinDebt(T, self, order)
    joinStandIns(T, order)
    -- Another order stands in that row here, or the one that is meant: nobody knows.
    if redis.call('SISMEMBER', T .. ':misfits', order) == 1 then joinDebt(T, self, '@m' .. batch .. ':' .. at) end
  end
  add(facts.order.replaces)
  add(facts.duplicateOf)
  if string.sub(self, 1, 1) ~= '@' then joinStandIns(T, self) end
  if not ref then return end
  local entries = (spentBy(T, ref.shard, ref.field, '', '') or '') .. ' ' .. (redis.call('HGET', T .. ':besides', ref.shard .. ref.field) or '')
  for entry in string.gmatch(entries, '%S+') do
    local _, otherNo, otherIndex = parseHolder(entry)
    local member = memberAt(T, otherNo, otherIndex)
    if member then joinDebt(T, self, member) end
  end
end

--- The order that this one stands in for waits here, and is not sent any more: it is the equal one.
local function replacesWaiting()
  local oldNo, at = placeOf(T, facts.order.replaces)
  return oldNo and isSealedBatch(T, oldNo) and stateOf(readRecord(T, oldNo, at), isCancelled(T, oldNo)) == 'p'
end

--- Equal orders that wait may be the same payment, and plans that were judged before are judged again.
local function noteEqual(place)
  if replacesWaiting() then redis.call('HINCRBY', T, 'seals', 1) else noteReplayed(T, place, facts.debt) end
end

--- A payment, proven or possible, that no record can tell of: nothing else pays the same debt. `holder` is archived.
local function keepPaid(holder, isHeld)
  if ref and code == 'P' then
    takeForDebt(T, ref, holder, index)
  elseif ref then
    takeOrStandBeside(T, ref.shard, ref.field, ref.digest, holder, index)
  end
  if type(facts.order.account) == 'string' and not isHeld then
    bump(T .. ':held', facts.order.account, tokens)
    redis.call('HSET', T .. ':keptHeld', holder .. ':' .. index, tokens .. ' ' .. facts.order.account)
  end
  noteEqual(holder .. ':' .. index .. ':' .. nonce)
  joinAll(memberAt(T, holder, index))
  mayArrive()
  batches.touch(no)
end

--- The same, where its batch has no order of its own for it.
local function keepWithoutPlace()
  local place = batchKey(T, 'm' .. id)
  local isKept = string.find(redis.call('HGET', place, 'second') or '', ' ' .. index .. ':', 1, true)
  if not (code == 'P' or mayBeApplied) or not keepSecond(place, index, nonce, code == 'P' and 'A' or 'a') then return false end
  redis.call('HSET', place, 'id', id, 'state', 'archived')
  keepPaid('m' .. id, isKept)
  return true
end

--- What was kept as perhaps paid was answered, and nothing was applied by it.
local function letGo()
  local holder, key = 'm' .. id, batchKey(T, 'm' .. id)
  local said = redis.call('HGET', key, 'second') or ''
  local from, to = string.find(said, ' ' .. index .. ':' .. nonce .. ':a', 1, true)
  if not from or code == 'P' or mayBeApplied then return end
  said = string.sub(said, 1, from - 1) .. string.sub(said, to + 1)
  redis.call('HSET', key, 'second', said)
  if string.find(said, ' ' .. index .. ':', 1, true) then return end
  leaveDebt(T, memberAt(T, holder, index))
  if ref then releaseReference(T, ref.shard, ref.field, holder, index) end
  if redis.call('HDEL', T .. ':keptHeld', holder .. ':' .. index) == 1 then bump(T .. ':held', facts.order.account, '-' .. tokens) end
end

if isMisfit then
  local why = 'a journal knows it with other content than its row has here'
  redis.call('SADD', T .. ':misfits', id .. '-' .. index)
  joinAll('@m' .. id .. ':' .. index)
  letGo()
  if not keepWithoutPlace() then return answer({ isArchived and 'ahead' or 'misfit' }) end
  if isArchived then
    saySecond(nonce, code == 'P', false, why)
    return answer({ 'second', was.state })
  end
  sayPaid(T, no, index, code == 'P', ' as another order', why .. '; look upstream')
  return answer({ 'misfit' })
end

if isOfPaid() then
  -- A key that is honoured pays once.
  local isIt = known
  local tells = code == 'P' or (mayBeApplied and not noted)
  local isLeftOut = was.state == 'd'
  if isLeftOut then letGo() end
  local holder = ref and redis.call('HGET', T .. ':ref:' .. ref.shard, ref.field)
  local _, holderNo = parseHolder(holder or '::')
  local isTwice = not isLeftOut or (holder and holderNo ~= 'm' .. id and isPaidHolder(T, holder))
  local why = isLeftOut and 'it stands as a duplicate, and a journal knows an attempt on it'
    or code == 'P' and 'two attempts on it were each answered as paid' or 'an attempt beside the one that counts may have been applied'
  if isIt or (facts.honoured and sameKey and not isLeftOut) or not tells or not saySecond(nonce, code == 'P', isTwice, why) then
    return answer(isIt and { 'ahead', was.state } or ahead())
  end
  note()
  if isLeftOut then keepWithoutPlace() else mayArrive() end
  batches.touch(no)
  return answer({ 'second', was.state })
elseif isArchived then
  local why = 'a journal came to light after the batch was archived, and the archive does not know this attempt'
  local isKept = string.find(redis.call('HGET', B, 'second') or '', ' ' .. index .. ':[^ :]*:[Aa]')
  if not (code == 'P' or (mayBeApplied and not known)) or not saySecond(nonce, code == 'P', false, why) then return answer({ 'ahead', was.state }) end
  -- Its reference and its part of a rule's account were given back with its end.
  keepPaid(no, isKept or (facts.archived ~= '' and HOLDING[from]))
  return answer({ 'second', was.state })
elseif known then
  if code == 's' then return answer({ 'ahead', was.state }) end
  local isAnswered = (was.state == 'u' or was.state == 'D') and facts.answered
  if was.state ~= 's' and not isAnswered and code ~= 'P' then return answer({ 'ahead', was.state }) end
elseif code ~= 'P' then
  if noted then return answer({ 'ahead', was.state }) end
  if was.state == 'D' then
    -- What it doubts is another attempt, or one that nobody knows of at all: a no to this one does not end it.
    note()
    if mayBeApplied then
      mayArrive()
      writeRecord(T, no, index, unnamedDoubt(T, no, index, was, now))
    end
    return answer({ 'ahead', was.state })
  elseif not mayBeApplied then
    if was.state ~= 'w' or tonumber(was.attempts) >= given.attempts then return answer(ahead()) end
  elseif was.state == 's' or was.state == 'u' then
    -- Both may have left. Whichever of them comes to an end, the other may have been applied as well, unless they
    -- ask under one key.
    code = sameKey and facts.unknown or 'D'
    met = true
  end
end
local attempts = math.max(tonumber(was.attempts), given.attempts)

if code == 'w' and batch.state == 'cancelled' then code = 'c' end
-- Nothing of a recovered batch is sent again before a person says so.
if code == 'w' and not isSealed then code = 'X' end
-- Later attempts on it may have been in a journal that was lost.
if not isSealed and (code == 'X' or code == 'R' or code == 'c') and redis.call('HEXISTS', B, 'incomplete') == 1 then code = 'D' end
if code == 's' and not isSealed then noteAttempt(T, no, index, nonce) end
-- Its row stands in another file by now, or its reference pays another order: nothing sends it again by itself.
-- An order that was never sent gives its reference up to this one: begin ends it.
local spentByOther = code == 'w' and spentBy or spentBySent
local self = id .. '-' .. index
if not (known and was.state == 's') then joinAll(self) end
local isPaidInstead = (was.marks or '') ~= '' or otherOfDebt(T, self, MAY_BE_PAID) or heldFor(T, self)
if isPaidInstead or (ref and spentByOther(T, ref.shard, ref.field, no, index)) then
  if code == 'w' then code = 'X' end
  if code == 's' or code == 'u' then code = 'D' end
end

-- A row that was left out is not sent: only a person, or the attempt's own answer, says what became of it.
if was.state == 'd' and mayBeApplied then code = 'D' end

-- What is sent or unknown holds its members. Where another order holds one by now, nothing read proves anything.
local holds = code == 's' or code == 'u'
redis.call('HDEL', B .. ':waiting', index)
if holds and #facts.members > 0 and not holdToken(T, no, index) then
  if not firstHeld(T, facts.members) then
    takeHolds(T, no, index, facts.members)
  elseif code == 'u' then
    code = 'D'
    holds = false
  end
end

-- It moved its members, and the ledger did not know: what was read of them before proves nothing, for
-- whichever order it was read. Where it holds none and has no answer, it may move them still.
local loose = code == 'D' or (code == 's' and not holdToken(T, no, index))
if not known or loose then voidMembers(T, facts.members, now + (loose and settleMs(T) or 0)) end

new.state, new.attempts, new.marks = code, tostring(attempts), was.marks or ''
local firstUsed = keyFirstUsed(was)
if sameKey and firstUsed and firstUsed < keyFirstUsed(new) then
  new.key = string.match(new.key, '^%d+') .. '@' .. base36(firstUsed)
end
new.nonce = met and '' or code == 'P' and nonceMark(nonce) or nonce
new.doubt = was.doubt
if met then
  if was.state == 's' then noteMet(was.nonce, was.session, was.key) end
  if given.detail == '' then noteMet(nonce, new.session, new.key) end
end
local record = encodeRecord(new)
-- What nobody has answered stays so up to now; only the attempt's own result says since when.
if (code == 'u' or code == 'D') and not (known and facts.answered) then
  record = unanswered(T, no, index, code, new, now)
elseif code == 'D' then
  numberDoubt(T, no, index, new)
  record = encodeRecord(new)
end
writeRecord(T, no, index, record)
if batch.state == 'planned' or batch.state == 'waiting' then
  redis.call('HSET', B, 'state', 'running')
  redis.call('HSETNX', B, 'startedAt', now)
end
if code == 's' or code == 'u' or code == 'w' then reopen(T, no) end
-- What was left out holds nothing of its rule's account.
if from == 'd' then addToAccount(T, no, index, facts.order.account, tokens) end
move(T, no, index, { from = from, to = code, amount = amount, before = was, after = new })
-- No approval covers what was left out, or what a person had called unpaid (see gate).
if from == 'd' or (from == 'X' and (was.doubt or '') ~= '') then
  local by = string.match(redis.call('HGET', B .. ':retriedBy', index) or '', '^%d+( .*)$')
  redis.call('HDEL', B .. ':alone', index)
  redis.call('HSET', B .. ':retriedBy', index, string.format('%.0f', now) .. (by or ''))
end

if code == 'w' or code == 'u' or code == 's' then
  redis.call('ZADD', B .. ':due', now + tonumber(given.dueIn), index)
else
  undispatch(T, no, index)
end
note()

-- The day's sum holds what may have been applied.
local COUNTS = { s = true, u = true, D = true, P = true }
-- What the store has forgotten, or knew as over, was paid in a past that may have cancelled an equal order which waits here.
local wasForgotten = not isSealed or batch.putBack or OVER[from] or from == 'd'
if COUNTS[code] and wasForgotten and (not known or OVER[from]) then
  noteEqual(no .. ':' .. index)
  if not isSealed then redis.call('HSET', B, 'seal', redis.call('HGET', T, 'seals')) end
end
if COUNTS[from] then bump(T .. ':days', dayOf(was, 0), '-' .. tokens) end
if COUNTS[code] then bump(T .. ':days', dayOf(new, 0), tokens) end
local isBeside = false
if ref and (code == 'R' or code == 'X' or code == 'c') then
  releaseReference(T, ref.shard, ref.field, no, index)
elseif ref and code == 'P' then
  isBeside = takeForDebt(T, ref, no, index)
elseif ref and code ~= 'w' then
  takeOrStandBeside(T, ref.shard, ref.field, ref.digest, no, index)
elseif ref and not spentBy(T, ref.shard, ref.field, no, index) then
  takeReference(T, ref.shard, ref.field, ref.digest, no, index)
end
-- It is paid by this attempt. The one that the record named, or those of an unnamed doubt, may have been applied as well.
if code == 'P' and not known and (was.state == 's' or was.state == 'u' or was.state == 'D') and not (facts.honoured and sameKey) then
  local other = lastNonce(was)
  saySecond(other == '' and 'another' or other, false, true, 'an attempt beside the one that counts may have been applied')
end

if code == 'P' then
  takeBack(T, facts.undoes, tokens)
  if not isTakenBack(T, no, index) then
    -- Another past has paid the same debt by another order.
    if isBeside then sayBeside(T, no, index, nonce, 'another order was paid under its reference') end
    sayIfPaidTwice(T, no, index, nonce)
  end
end
local handed = {}
if not holds then handed = releaseHolds(T, no, index, now) end

for _, field in ipairs({ 'requests', 'retries', 'limited' }) do
  if facts[field] > 0 then totals.worked(T, no, field, facts[field], dayOf(new, now)) end
end
finishIfDone(T, no)
return answer({ 'ok', code, cjson.encode(handed) })
