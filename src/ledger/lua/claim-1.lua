--[[
  Asks whether an order may be worked on, before a slot of the pace is spent on it. Under read-back it also
  holds the order's members, both or none, without expiry; where one is held, the order waits in that
  member's list and is handed over by the move that releases it.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] session ('' unless the batch is a run)
  ARGV[4] highest sequence seen  ARGV[5] era ('' before the first)  ARGV[6…] members to hold (read-back only)

  Returns {'go', 'w' | 'u', token of the hold or ''} | {'wait', ms} (not due yet) | {'held'}
    | {'stop', why} (the job has nothing to do): disarmed | rollback | era | halted | breaker | <batch state> | owner | state code | not-due
]]
--- @include "record"
--- @include "hold"
--- @include "fence"
local T, no, index = KEYS[1], ARGV[1], ARGV[2]
local B = batchKey(T, no)
local closed = fenced(T, ARGV[4], ARGV[5])
if closed then return { 'stop', closed } end
local realm = redis.call('HMGET', T, 'halt', 'breaker')
if realm[1] then return { 'stop', 'halted' } end
local meta = redis.call('HMGET', B, 'state', 'owner')
local record = readRecord(T, no, index)
local code = record and string.sub(record, 1, 1) or 'w'
if meta[1] ~= 'running' and not (meta[1] == 'cancelled' and code == 'u') then
  return { 'stop', meta[1] or 'gone' }
end
if meta[2] ~= ARGV[3] then return { 'stop', 'owner' } end
if code ~= 'w' and code ~= 'u' then return { 'stop', code } end
if realm[2] and code == 'w' then return { 'stop', 'breaker' } end

-- What was taken back, or waits for a member, has no business here, however many deliveries of it are left.
local due = redis.call('ZSCORE', B .. ':due', index)
if not due then return { 'stop', 'not-due' } end
local ms = tonumber(due) - nowMs()
if isPause(ms) then return { 'wait', ms } end

local members = {}
for i = 6, #ARGV do members[#members + 1] = ARGV[i] end
if #members == 0 then return { 'go', code, '' } end
local token = holdToken(T, no, index)
if token then return { 'go', code, token } end
local held = firstHeld(T, members)
if held then
  waitFor(T, no, index, held, members)
  return { 'held' }
end
return { 'go', code, takeHolds(T, no, index, members) }
