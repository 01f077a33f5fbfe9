--[==[
  A person lets first sends go on after a rollback: batches and schedules.

  KEYS[1] the realm
  ARGV[1] audit entry, for each batch that waited

  Returns {'not waiting'} | {'disarmed'} (the journals are not merged) | {'resumed', ids of the batches that waited…}
]==]
--- @include "record"
--- @include "fence"
--- @include "move"
local T = KEYS[1]
if isUnmerged(T) then return { 'disarmed' } end
if redis.call('HDEL', T, 'waitsSince') == 0 then return { 'not waiting' } end
local resumed = { 'resumed' }
for _, no in ipairs(redis.call('SMEMBERS', T .. ':unresumed')) do
  batches.touch(no)
  local B = batchKey(T, no)
  local meta = redis.call('HMGET', B, 'id', 'state')
  if meta[2] == 'planned' or meta[2] == 'running' or meta[2] == 'paused' or meta[2] == 'halted' then
    redis.call('RPUSH', B .. ':log', ARGV[1])
    resumed[#resumed + 1] = meta[1]
  end
end
redis.call('DEL', T .. ':unresumed')
noteAct(T)
batches.flush(T)
return resumed
