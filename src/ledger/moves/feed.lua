--[==[
  Takes the next planned orders of a batch for dispatch: moves the cursor and notes each order as due. The
  jobs are added afterwards; should the feeder die in between, the sweeper finds orders that are due and
  have no job.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] how many at most (0: it only begins)  ARGV[3] session that feeds ('' unless the batch is a run)
  ARGV[4] highest sequence seen  ARGV[5] era ('' before the first)  ARGV[6] session that asks
  ARGV[7] sequence of the last order that it began

  Returns the indexes to dispatch
]==]
--- @include "record"
--- @include "move"
--- @include "fence"
--- @include "gate"
--- @include "first-sends"
local WAITING_MAX = 5000
local T, no, most = KEYS[1], ARGV[1], tonumber(ARGV[2])
local B = batchKey(T, no)
local meta = redis.call('HMGET', B, 'state', 'cursor', 'rows', 'limit', 'inOrder', 'owner', 'high', 'recovered', 'begun')
local state = meta[1]
if state ~= 'planned' and state ~= 'running' then return {} end
if meta[6] ~= ARGV[3] then return {} end
-- What this store requires may be forgotten: whoever finds another one than it knew keeps it first, and nothing begins before.
if ARGV[5] ~= '' and fencedSender(T, ARGV[4], ARGV[5], ARGV[6], ARGV[7]) then return {} end
-- Nothing of a recovered batch is sent for the first time.
if meta[8] or waitsForPerson(T, no) then return {} end

local now = nowMs()
if not meta[9] then
  if closedGate(T, no, now) then return {} end
  begin(T, no, now)
end
if state == 'planned' then redis.call('HSET', B, 'state', 'running') end
-- Orders that wait for a member are out of the window, but their list must not grow without end.
local waiting = redis.call('HLEN', B .. ':waiting')
if waiting >= WAITING_MAX then return {} end
-- Strictly one after the other: the next order is fed when the one before has come to its end.
if meta[5] == '1' then
  if redis.call('ZCARD', B .. ':due') > 0 or waiting > 0 or countOf(T, no, 's') > 0 or countOf(T, no, 'u') > 0 then return {} end
  most = math.min(most, 1)
end

local cursor = tonumber(meta[2])
local last, high = tonumber(meta[3]), tonumber(meta[7] or '0')
if meta[4] then most = math.min(most, tonumber(meta[4])) end
local fed = {}
-- A long stretch of rows that are no orders must not hold Redis up: at most this many are looked at.
local lookEnd = math.min(last, cursor + 2000)
while cursor <= lookEnd and #fed < most do
  local index = tostring(cursor)
  local record = readRecord(T, no, index)
  local open = not record
  -- Below the high mark orders were fed before: only what was taken back is fed again.
  if cursor < high and (open or string.sub(record, 1, 1) == 'w') then
    open = not redis.call('ZSCORE', B .. ':due', index) and redis.call('HEXISTS', B .. ':waiting', index) == 0
  end
  if open then
    fed[#fed + 1] = index
    redis.call('ZADD', B .. ':due', now, index)
  end
  cursor = cursor + 1
end
redis.call('HSET', B, 'cursor', cursor)
-- Lua writes minus nothing as '-0', which Redis does not take for a number.
if meta[4] and #fed > 0 then redis.call('HINCRBY', B, 'limit', -#fed) end
return fed
