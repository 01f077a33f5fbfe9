--[==[
  What may have been sent of a batch becomes a doubt, because a journal that would tell is lost for good. The store may have
  forgotten any number of moves, so nothing that is planned, waiting, being sent or unknown is certain any more, nor that a
  dead letter was not retried and paid since. The record of such a doubt names no attempt: a no to an attempt that is
  known, or the proof that it was never sent, says nothing of those that are forgotten; a payment ends it. A doubt that was
  there before gets another number, so that what somebody has decided about it does not count for the new one.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] detail JSON
  ARGV[3…] index, amount (see totals), members under read-back (joined by blanks, '' otherwise), reference
    ('shard:name in hex:content digest', '' for none), index, amount, …

  Returns {how many became doubts, their sum}
]==]
--- @include "record"
--- @include "row"
--- @include "move"
--- @include "hold"
--- @include "reference"
local T, no, detail, orders = KEYS[1], ARGV[1], ARGV[2], ARGV
local B = batchKey(T, no)
local cancelled = isCancelled(T, no)
local rows = redis.call('HGET', B, 'rows')
local now = nowMs()
local doubts, sum = 0, 0

--- A dead letter that a retry could still pay. One whose reference has gone to another order no retry pays.
local function mayBeRetried(was, index, reference)
  if (was.state ~= 'R' and was.state ~= 'X') or cancelled or string.find(was.marks or '', '[dr]') then return false end
  local shard, hex, digest = string.match(reference, '^(%w+):(%x*):(.*)$')
  if not shard then return true end
  if spentBy(T, shard, unhex(hex), no, index) then return false end
  takeReference(T, shard, unhex(hex), digest, no, index)
  return true
end

for i = 3, #orders, 4 do
  local index, amount, members, reference = unpack(orders, i, i + 3)
  local tokens = totals.parse(amount)
  local old = isRow(rows, index) and readRecord(T, no, index)
  local was = old and decodeRecord(old) or blankFields()
  local code = was.state
  local dead = isRow(rows, index) and mayBeRetried(was, index, reference)
  if isRow(rows, index) and code == 'D' then
    redis.call('RPUSH', B .. ':x:' .. index, detail)
    writeRecord(T, no, index, unnamedDoubt(T, no, index, was, now))
    batches.touch(no)
  elseif isRow(rows, index) and (dead or code == 'w' or code == 'u' or code == 's') then
    -- Nobody knows when it may have been sent: by now at the latest, and it counts for that day.
    if was.sent == '' then was.sent = base36(now) end
    writeRecord(T, no, index, unnamedDoubt(T, no, index, was, now))
    move(T, no, index, { from = stateOf(old, cancelled), to = 'D', amount = amount, before = was, after = was })
    undispatch(T, no, index)
    redis.call('HDEL', B .. ':waiting', index)
    redis.call('RPUSH', B .. ':x:' .. index, detail)
    if dead or code == 'w' then bump(T .. ':days', dayOf(was, now), tokens) end
    voidMembers(T, words(members), now + settleMs(T))
    releaseHolds(T, no, index, now)
    doubts = doubts + 1
    sum = sum + tonumber(tokens)
  end
end
finishIfDone(T, no)
batches.flush(T)
return { doubts, string.format('%.0f', sum) }
