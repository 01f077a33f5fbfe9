--[==[
  A person lets first sends go on after a rollback: batches and schedules.

  KEYS[1] the realm
  ARGV[1] audit entry, for each batch that waited  ARGV[2] since when they wait, as the person saw it

  Returns {'not waiting'} | {'disarmed'} (the journals are not merged, or the store was rolled back once more since) | {'resumed', ids of the batches that waited…}
]==]
--- @include "record"
--- @include "fence"
--- @include "move"
local T, audit, sinceSeen = KEYS[1], ARGV[1], ARGV[2]
if isUnmerged(T) then return { 'disarmed' } end
local since = redis.call('HGET', T, 'waitsSince')
if not since then return { 'not waiting' } end
if since ~= sinceSeen then return { 'disarmed' } end
redis.call('HDEL', T, 'waitsSince')
local resumed = { 'resumed' }
for _, no in ipairs(redis.call('SMEMBERS', T .. ':unresumed')) do
  batches.touch(no)
  local B = batchKey(T, no)
  local id, state = unpack(redis.call('HMGET', B, 'id', 'state'))
  if state == 'planned' or state == 'waiting' or state == 'running' or state == 'paused' or state == 'halted' then
    redis.call('RPUSH', B .. ':log', audit)
    resumed[#resumed + 1] = id
  end
end
redis.call('DEL', T .. ':unresumed')
noteAct(T)
batches.flush(T)
return resumed
