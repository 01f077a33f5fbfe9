--[==[
  Forgets the attempts that were put back into their batch. What another process has put by meanwhile stays, and the
  batch is fed once nothing of it is left.

  KEYS[1] the realm
  ARGV[1] batch id  ARGV[2] JSON list of [nonce, the attempt as it was put back]
  ARGV[3] the store in which they were put back (see isSameStore): in another one they were not

  Returns how many are left
]==]
--- @include "record"
--- @include "fence"
local T = KEYS[1]
if not isSameStore(T, ARGV[3]) then return redis.call('HLEN', T .. ':parked:' .. ARGV[1]) end
local parked = T .. ':parked:' .. ARGV[1]
for _, one in ipairs(cjson.decode(ARGV[2])) do
  if redis.call('HGET', parked, one[1]) == one[2] then redis.call('HDEL', parked, one[1]) end
end
local left = redis.call('HLEN', parked)
if left == 0 then redis.call('HDEL', T .. ':parked', ARGV[1]) end
return left
