--[==[
  Asks for a list of orders whether each may be worked on, before a slot of the pace is spent on it. Under
  read-back it also holds the order's members, both or none, without expiry; where one is held, the order
  waits in that member's list and is handed over by the move that releases it.

  KEYS[1] the realm
  ARGV[1] highest sequence seen  ARGV[2] era ('' before the first)  ARGV[3] session
  ARGV[4] sequence of the last order that it began
  ARGV[5] until when nothing is sent for the first time (quiet hours), ms
  ARGV[6], ARGV[7] as begin-sending has them
  ARGV[8] JSON list of orders, each a list of strings:
     1 batch no  2 index  3 owner (the session for its own run, else '')  4… members to hold (read-back only)

  Returns a JSON list, for each order
    ['go', 'w' | 'u', token of the hold or ''] | ['wait', ms] (not due yet) | ['held'] | ['error', message]
    | ['stop', why] (the job has nothing to do): format | disarmed | rollback | era | lost | halted | breaker | after-rollback | <batch state> | owner | state code | not-due
]==]
--- @include "record"
--- @include "hold"
--- @include "fence"
--- @include "first-sends"
--- @include "each"
local T, seen, era, session, sessionBegun = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local quietUntil, ordersJson = ARGV[5], ARGV[8]
local closed = fencedSender(T, seen, era, session, sessionBegun)
local halt, breaker = unpack(redis.call('HMGET', T, 'halt', 'breaker'))

local replies = each(ordersJson, function(order)
  local no, index, owner = unpack(order, 1, 3)
  local B = batchKey(T, no)
  if closed then return { 'stop', closed } end
  if halt then return { 'stop', 'halted' } end
  local state, ownedBy = unpack(redis.call('HMGET', B, 'state', 'owner'))
  local record = readRecord(T, no, index)
  local code = record and string.sub(record, 1, 1) or 'w'
  if state ~= 'running' and not (state == 'cancelled' and code == 'u') then
    return { 'stop', state or 'gone' }
  end
  if ownedBy ~= owner then return { 'stop', 'owner' } end
  if code ~= 'w' and code ~= 'u' then return { 'stop', code } end
  if breaker and code == 'w' then return { 'stop', 'breaker' } end
  if code == 'w' and waitsForPerson(T, no) then return { 'stop', 'after-rollback' } end

  -- What was taken back, or waits for a member, has no business here, however many deliveries of it are left.
  local due = redis.call('ZSCORE', B .. ':due', index)
  if not due then return { 'stop', 'not-due' } end
  local ms = tonumber(due) - nowMs()
  if isPause(ms) then return { 'wait', ms } end
  local quiet = quietMs(record, quietUntil)
  if quiet then return { 'wait', quiet } end

  local members = {}
  for i = 4, #order do members[#members + 1] = order[i] end
  if #members == 0 then return { 'go', code, '' } end
  local token = holdToken(T, no, index)
  if token then return { 'go', code, token } end
  local held = firstHeld(T, members)
  if held then
    waitFor(T, no, index, held, members)
    return { 'held' }
  end
  return { 'go', code, takeHolds(T, no, index, members) }
end)
batches.flush(T)
return replies
