--[==[
  A session joins the realm before its first claim, and again whenever a registry may have forgotten it. One that
  was given up never comes back.

  KEYS[1] the realm
  ARGV[1] session  ARGV[2] entry JSON  ARGV[3] its limits, see noteLimits ('' where it sends nothing)
  ARGV[4] 'only if forgotten': on behalf of a session that lives  'has begun nothing': it has nothing to merge
  ARGV[5] identity of the data folder that the store lies in ('' where it lies in none)

  Returns 'ok' | 'lost' | 'older' | 'newer' (another version has written the ledger)
]==]
--- @include "record"
--- @include "fence"
local T, session, entry, limits, how, folder = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local other = otherFormat(T)
if other then return other end
if redis.call('HEXISTS', T .. ':lost', session) == 1 then return 'lost' end
if limits ~= '' then
  redis.call('HSET', T .. ':waits', session, limits)
  noteLimits(T)
end
redis.call('HSETNX', T .. ':begun', session, '0')
if how == 'only if forgotten' then
  redis.call('HSETNX', T .. ':sessions', session, entry)
  return 'ok'
end
if folder ~= '' then
  -- A ledger that has sent nothing belongs to the folder in which it is found.
  local isNew = redis.call('HEXISTS', T, 'seq') == 0 and redis.call('HEXISTS', T, 'armed') == 0
  redis.call(isNew and 'HSET' or 'HSETNX', T, 'folder', folder)
end
redis.call('HSET', T .. ':sessions', session, entry)
redis.call('HSET', T .. ':seen', session, nowMs())
-- Armed for this very server: from here on the store forgets nothing of the session without being found out.
local armed, era = unpack(redis.call('HMGET', T, 'armed', 'era'))
if armed and armed == serverRun() then
  redis.call('HSETNX', T .. ':joined', session, armed .. ' ' .. (era or ''))
end
-- As if it had come after the arming, because it begins nothing while the fence is down. Whoever is about to merge,
-- also what others left, is waited for until it has.
if isUnmerged(T) then
  if how == 'has begun nothing' then redis.call('HSET', T .. ':merged', session, serverRun())
  else redis.call('HDEL', T .. ':merged', session) end
end
return 'ok'
