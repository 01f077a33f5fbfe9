--[[
  A session ends in order. It leaves the registry only while the ledger knows all it did: one that leaves a
  store which was restarted or rolled back under it has not merged, and must still be waited for.

  KEYS[1] the realm
  ARGV[1] session  ARGV[2] highest sequence seen  ARGV[3] era

  Returns 'left' | 'stays'
]]
--- @include "fence"
local T = KEYS[1]
if fenced(T, ARGV[2], ARGV[3]) then return 'stays' end
redis.call('HDEL', T .. ':sessions', ARGV[1])
return 'left'
