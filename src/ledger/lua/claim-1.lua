--[[
  Asks whether an order may be worked on, before a slot of the pace is spent on it. Under read-back it also
  holds the order's members, both or none, without expiry; where one is held, the order waits in that
  member's list and is handed over by the settle that releases it.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] session ('' unless the batch is a run)
  ARGV[4…] members to hold (read-back only)

  Returns {'go', 'w' | 'u'} | {'wait', ms} (not due yet) | {'held'} | {'stop', why} (the job has nothing to do)
]]
--- @include "record"
local T, no, index = KEYS[1], ARGV[1], ARGV[2]
local B = batchKey(T, no)
if redis.call('HEXISTS', T, 'halt') == 1 then return { 'stop', 'halted' } end
local meta = redis.call('HMGET', B, 'state', 'owner')
local record = readRecord(T, no, index)
local code = record and string.sub(record, 1, 1) or 'w'
if meta[1] ~= 'running' and not (meta[1] == 'cancelled' and code == 'u') then
  return { 'stop', meta[1] or 'gone' }
end
if meta[2] ~= ARGV[3] then return { 'stop', 'owner' } end
if code ~= 'w' and code ~= 'u' then return { 'stop', code } end

local due = redis.call('ZSCORE', B .. ':due', index)
if due then
  local ms = tonumber(due) - nowMs()
  if ms > 0 then return { 'wait', ms } end
end

local order = no .. ':' .. index
for i = 4, #ARGV do
  local holder = redis.call('GET', T .. ':hold:' .. ARGV[i])
  if holder and holder ~= order then
    local waiting = T .. ':wait:' .. ARGV[i]
    if not redis.call('LPOS', waiting, order) then redis.call('RPUSH', waiting, order) end
    -- Waiting orders are not due: their turn comes with the hand-over.
    redis.call('ZREM', B .. ':due', index)
    redis.call('SADD', B .. ':waiting', index)
    return { 'held' }
  end
end
for i = 4, #ARGV do
  redis.call('SET', T .. ':hold:' .. ARGV[i], order)
end
return { 'go', code }
