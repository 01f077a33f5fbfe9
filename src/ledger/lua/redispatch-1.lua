--[[
  Gives orders that are due, but have no live job, a new dispatch generation; ':g' remembers it while they are open.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] session ('' unless the batch is a run)  ARGV[3…] indexes

  Returns the generation followed by the indexes that are still open
]]
--- @include "record"
local T, no = KEYS[1], ARGV[1]
local B = batchKey(T, no)
local meta = redis.call('HMGET', B, 'state', 'owner')
-- An unknown of a cancelled batch still has to be resolved, so it is dispatched there as well.
if (meta[1] ~= 'running' and meta[1] ~= 'cancelled') or meta[2] ~= ARGV[2] then return { 0 } end
local open = { redis.call('HINCRBY', B, 'generation', 1) }
for i = 3, #ARGV do
  local record = readRecord(T, no, ARGV[i])
  local code = record and string.sub(record, 1, 1) or 'w'
  if code == 'w' or code == 'u' then
    open[#open + 1] = ARGV[i]
    redis.call('HSET', B .. ':g', ARGV[i], open[1])
  elseif code ~= 's' then
    redis.call('ZREM', B .. ':due', ARGV[i])
    redis.call('HDEL', B .. ':g', ARGV[i])
  end
end
return open
