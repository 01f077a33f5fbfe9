--[==[
  The batches that may have orders to feed, those first at which nobody has looked for the longest time.

  KEYS[1] the realm
  ARGV[1] session ('' for the workers)  ARGV[2] number of its batch  ARGV[3] how many at most
]==]
--- @include "record"
local T = KEYS[1]
if ARGV[1] == '' then
  return redis.call('ZRANGEBYSCORE', T .. ':feed', '-inf', string.format('%.0f', nowMs()), 'LIMIT', 0, ARGV[3])
end
local meta = redis.call('HMGET', batchKey(T, ARGV[2]), 'state', 'owner', 'cursor', 'rows', 'recovered')
local isMine = meta[2] == ARGV[1] and not meta[5] and (meta[1] == 'planned' or meta[1] == 'running')
if isMine and tonumber(meta[3]) <= tonumber(meta[4]) then return { ARGV[2] } end
return {}
