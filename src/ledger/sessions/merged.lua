--[==[
  A session has merged its journal into the ledger as it stands on this server.

  KEYS[1] the realm
  ARGV[1] run_id it was merged for  ARGV[2] session  ARGV[3] highest sequence it has seen

  Returns 'ok' | 'changed' (another server answers by now: merge again)
]==]
--- @include "record"
--- @include "fence"
local T = KEYS[1]
if serverRun() ~= ARGV[1] then return 'changed' end
redis.call('HSET', T .. ':merged', ARGV[2], ARGV[1])
local seen = math.max(tonumber(redis.call('HGET', T, 'mergedSeen') or '0'), tonumber(ARGV[3]))
redis.call('HSET', T, 'mergedSeen', string.format('%d', seen))
return 'ok'
