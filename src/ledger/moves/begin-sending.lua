--[==[
  The last question before the first byte leaves, for a list of orders: marks each as sending, or says why
  not. Asked again with the same nonce it gives the same answer.

  KEYS[1] the realm
  ARGV[1] highest sequence seen  ARGV[2] era ('' before the first)  ARGV[3] session
  ARGV[4] sequence of the last order that it began
  ARGV[5] until when nothing is sent for the first time (quiet hours), ms
  ARGV[6], ARGV[7] limits of the sender's profile ('' for none, see gate)
  ARGV[8] JSON list of orders, each a list of strings:
     1 batch no  2 index  3 nonce  4 amount (see totals)  5 daily cap ('' for none)  6 reason JSON for a batch halted by it
     7 how old the key of an unknown may be when it is resent, in ms ('' where nothing is resent)
     8 '<number of a key> <ms>': how old the caller knows that key to be by its own clock, -1 where its clocks tell
       two stories ('' where it knows nothing)
     9 JSON evidence to keep before sending ('' for none; read-back's balances)
    10 token of the hold ('' unless read-back)
    11 id of the batch whose row is to be sent ('' unless known): numbers change owners after a rollback
    12 shard ('' without reference)  13 reference field hex  14 content digest
    15 digest of what was looked up in a table ('' for none)

  Returns a JSON list, for each order
    ['go', key, attempts, tries, prior, seq, sent at (of the first attempt whose outcome is unknown), now, the longest
     settle time of the senders, sequence of the last order that the session began] | ['no', why, …] (see may-send)
    | ['error', message]. Behind a refusal stand
      early, quiet: the ms for which the order waits      batch, order: its state
      key-old, clocks: the nonce of the unknown attempt
      instead: the order's new state code, message, attempts, error code, id of the order that stands against it or ''. It
        ended, because another order is, or may be, paid instead
]==]
--- @include "record"
--- @include "tally"
--- @include "move"
--- @include "reference"
--- @include "hold"
--- @include "sender-gate"
--- @include "fence"
--- @include "data-folders"
--- @include "each"
--- @include "second"
--- @include "debt"
--- @include "replayed"
local T, seen, era, session, sessionBegun = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local quietUntil, overTokens, overRows, ordersJson = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local now = nowMs()
local nowText = base36(now)
local today = utcDay(now)
local limits = senderGate.limitsOf(overTokens, overRows)
local settles = redis.call('HGET', T, 'settleMs') or '0'
local days = T .. ':days'

--- A day's sum is kept short of what a counter holds, by more than doubles round there.
local DAY_MOST = 2 ^ 63 - 2 ^ 54
local DAY_REASON = '{"code":"ALM_BATCH_DAY_SUM"}'

local function closed() return fencedSender(T, seen, era, session, sessionBegun) end

--- The balances were read under a hold that has been given up since: they prove nothing any more.
local function holdLost(batch, order)
  if order.hold ~= '' and holdToken(T, batch.no, order.index) ~= order.hold then return refuse('hold-lost') end
end

local function outOfTurn(batch, order)
  if batch.inOrder ~= '1' then return nil end
  local others = countOf(T, batch.no, 's') + countOf(T, batch.no, 'u') - (order.code == 'u' and 1 or 0)
  if others > 0 then return refuse('in-order') end
end

--- An unknown is sent again with its key only while the realm still knows it. The realm answers a key for so long and no
--- longer, and the request must have arrived by then. The caller has known the key for part of its life at most.
local CLOCK_TOLERANCE_MS = 2000
local function badKey(_, order)
  if order.code ~= 'u' then return nil end
  local attempt, oldestMs, known = lastNonce(order.fields), unpack(order.given, 7, 8)
  local firstUsed = keyFirstUsed(order.fields)
  if not firstUsed then return refuse('clocks', attempt) end
  local age = now - firstUsed
  local number, knownMs = string.match(known, '^(%d+) (%-?%d+)$')
  if number ~= string.match(order.fields.key, '^%d+') then knownMs = '0' end
  if knownMs == '-1' or age < 0 or age < tonumber(knownMs) - CLOCK_TOLERANCE_MS then return refuse('clocks', attempt) end
  if age >= tonumber(oldestMs) then return refuse('key-old', attempt) end
end

local function idOf(no, index)
  return (redis.call('HGET', batchKey(T, no), 'id') or '') .. '-' .. index
end

local function idOfMember(member)
  local no, index = string.match(member, '^@([^:]+):(%d+)$')
  return no and idOf(no, index) or member
end

--- Ends an order that is not to be sent, because another one is, or may be, paid instead. An unknown one may have been
--- applied: it becomes a doubt.
local WORDS = { d = 'duplicate', X = 'exhausted', D = 'doubt' }
local function endUnsent(no, index, amount, fields, ending)
  local from = fields.state
  local to = from == 'u' and 'D' or ending.isDuplicate and 'd' or 'X'
  fields.state = to
  if to == 'D' then numberDoubt(T, no, index, fields) end
  writeRecord(T, no, index, encodeRecord(fields))
  move(T, no, index, { from = from, to = to, amount = amount, before = fields, after = fields })
  undispatch(T, no, index)
  local message = ending.why .. (to == 'D' and ', so that it is not sent again' or ', so that nothing was sent')
  noteDetail(T, no, index, cjson.encode({ event = 'concluded', at = now, state = WORDS[to], by = 'almoner',
    code = ending.code, message = message }))
  if to == 'D' then voidHeld(T, no, index, now) end
  releaseHolds(T, no, index, now)
  finishIfDone(T, no)
  return refuse('instead', to, message, fields.attempts, ending.code, ending.order or '')
end

--- Another order holds its reference. One that was never sent is a duplicate of a paid order with the same content.
local function withoutReference(fields, digest, holder)
  local holderDigest, holderNo, holderIndex = parseHolder(holder)
  local isUnsent = fields.state == 'w' and fields.attempts == '0'
  local other = idOf(holderNo, holderIndex)
  return { order = other, code = 'ALM_SEND_REFERENCE_HELD', why = 'order ' .. other .. ' holds its reference',
    isDuplicate = isUnsent and holderDigest == digest and isPaidHolder(T, holder) }
end

--- Hardly any realm has orders of which journals brought back more than the store knew.
local anyDebts, anyReplayed, anyUndoes = false, false, false
if redis.call('EXISTS', T .. ':debts', T .. ':alike', T .. ':undoes') > 0 then
  anyDebts = redis.call('EXISTS', T .. ':debts') == 1
  anyReplayed = redis.call('EXISTS', T .. ':alike') == 1
  anyUndoes = redis.call('EXISTS', T .. ':undoes') == 1
end

--- What is, or may be, paid instead of the order; nil where nothing is.
local function paidInstead(no, index, id, fields, given)
  local shard, hex, digest, origin = unpack(given, 12, 15)
  local holder = shard ~= '' and otherHolder(T, shard, unhex(hex), digest, no, index)
  if holder then return withoutReference(fields, digest, holder) end
  local other = anyDebts and otherOfDebt(T, id .. '-' .. index, MAY_BE_PAID)
  if other then
    local id = idOfMember(other)
    return { order = id, code = 'ALM_ORDER_MAYBE_PAID', why = 'order ' .. id .. ' was paid, or may have been, for the same debt' }
  end
  if anyUndoes and redis.call('HEXISTS', T .. ':undoes', id .. '-' .. index) == 1 and not isCleared(T, id .. '-' .. index, 'undo') then
    return { code = 'ALM_ORDER_MAYBE_PAID', why = 'an undo of it was paid, and so it was paid and taken back before' }
  end
  if not anyReplayed then return nil end
  local byNo, byIndex = meetReplayed(T, no, index, digest, origin, shard ~= '')
  if not byNo then return nil end
  local met = idOf(byNo, byIndex)
  return { order = met, code = 'ALM_ORDER_MAYBE_PAID', why = 'order ' .. met .. ', which a journal put back, may be this very payment' }
end

local function paidElsewhere(batch, order)
  local ending = paidInstead(batch.no, order.index, batch.id, order.fields, order.given)
  return ending and endUnsent(batch.no, order.index, order.amount, order.fields, ending)
end

--- The day's sum counts what is sent, once an order: a resend of an unknown was counted when it first left.
local function overCap(batch, order)
  if order.code ~= 'w' then return nil end
  local cap, capReason = unpack(order.given, 5, 6)
  local capped = cap ~= ''
  if counter(days, today) + tonumber(order.tokens) <= (capped and tonumber(cap) or DAY_MOST) then return nil end
  redis.call('HSET', batchKey(T, batch.no), 'state', 'halted', 'reason', capped and capReason or DAY_REASON)
  batch.isOther = true
  standStill(T, batch.no, now)
  return refuse('cap')
end

--- Last: what may leave is counted by this.
local function needsApproval(batch, order)
  if order.code ~= 'w' or senderGate.mayLeave(T, batch.no, order.index, order.tokens, limits, now) then return nil end
  batch.isOther = true
  return refuse('approval')
end

local ask = { T = T, closed = closed, sends = true, states = { running = true }, owners = { [''] = true, [session] = true }, now = now,
  quietUntil = quietUntil, hold = holdLost, turn = outOfTurn, key = badKey, payment = paidElsewhere, day = overCap,
  gate = needsApproval }

local unheld = false
local begun

local function begin(given)
  local no, index, nonce, amount, _, _, keyAgeMax, _, evidence, hold, id = unpack(given, 1, 11)
  local tokens = totals.parse(amount)
  local record = readRecord(T, no, index)
  local fields = record and decodeRecord(record) or blankFields()
  local code = fields.state

  if code == 's' and fields.nonce == nonce then
    return { 'go', fields.key, fields.attempts, fields.tries, fields.prior, redis.call('HGET', T, 'seq') or '0', fields.sent, nowText,
      settles, redis.call('HGET', T .. ':begun', session) or '0' }
  end
  local batch = batchOf(T, no)
  local order = { index = index, code = code, isResolved = code == 'u' and keyAgeMax ~= '', batch = id ~= '' and id or nil,
    record = record, fields = fields, amount = amount, tokens = tokens, hold = hold, given = given }
  local refusal = whyNot(ask, batch, order)
  if refusal then return refusal end

  local attempts = tostring(tonumber(fields.attempts) + 1)
  local prior = code == 'u' and 'u' .. fields.took or ''
  local sent = code == 'u' and fields.sent or nowText
  -- The life of a key counts from its first use, also where a definite no came in between.
  local key = string.match(fields.key, '^%d+')
  local firstUsed = string.match(fields.key, '@(.+)$') or (fields.sent ~= '' and fields.sent) or nowText
  if firstUsed ~= sent then key = key .. '@' .. firstUsed end
  local new = { state = 's', key = key, attempts = attempts, tries = fields.tries, session = session, nonce = nonce, sent = sent,
    prior = prior, status = fields.status, marks = fields.marks, doubt = fields.doubt }
  writeRecord(T, no, index, encodeRecord(new))
  if code == 'w' then bump(days, today, tokens) end
  if evidence ~= '' then redis.call('RPUSH', batchKey(T, no) .. ':x:' .. index, evidence) end
  -- Until it is paid, nobody knows what its members should have.
  if hold ~= '' then forgetExpected(T, no, index) end
  unheld = unheld or hold == ''
  -- It is paid again by a person's word: what was taken back is another payment.
  if anyUndoes then redis.call('HDEL', T .. ':undoes', batch.id .. '-' .. index) end
  begun = move(T, no, index, { from = code, to = 's', amount = amount, before = fields, after = new })
  return { 'go', key, attempts, fields.tries, prior, begun, sent, nowText, settles, begun }
end

local replies = each(ordersJson, begin)
if begun then
  -- From its first order on, what its folder's journals know is waited for.
  if redis.call('HGET', T .. ':begun', session) == '0' then rememberFolderOf(T, session) end
  redis.call('HSET', T .. ':begun', session, begun)
end
if unheld then redis.call('HSET', T, 'unheldAt', now) end
writeTally()
batches.flush(T)
return replies
