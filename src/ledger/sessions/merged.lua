--[==[
  A session has merged its journal into the ledger as it stands on this server.

  KEYS[1] the realm
  ARGV[1] run_id it was merged for  ARGV[2] session  ARGV[3] highest sequence it has seen
  ARGV[4] the last epoch that it has seen ('' or 'none': none yet)  ARGV[5] sequence of the last order that it began

  Returns 'ok' | 'changed' (another server answers by now: merge again)
]==]
--- @include "record"
--- @include "fence"
local T = KEYS[1]
if serverRun() ~= ARGV[1] then return 'changed' end
-- Where the store does not know an epoch that was armed, it went back to before that arming. Other sessions may have sent
-- since, and must merge once more: their marks are of the past that was restored. Said once for each such epoch.
local era = ARGV[4]
if era ~= '' and era ~= 'none' and not isEra(T, era) and redis.call('SADD', T .. ':lostEras', era) == 1 then
  redis.call('DEL', T .. ':merged')
end
redis.call('HSET', T .. ':merged', ARGV[2], ARGV[1])
if forgetsSession(T, ARGV[2], ARGV[5]) then redis.call('HSET', T .. ':begun', ARGV[2], ARGV[5]) end
local seen = math.max(tonumber(redis.call('HGET', T, 'mergedSeen') or '0'), tonumber(ARGV[3]))
redis.call('HSET', T, 'mergedSeen', string.format('%d', seen))
return 'ok'
