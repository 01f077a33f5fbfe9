--[==[
  Lets orders be sent again, once every registered session has merged its journal and the journals of every data folder were
  looked at. Sessions proven dead are merged by a process of their machine and leave the registry; what is left and has not
  merged is missing.

  KEYS[1] the realm
  ARGV[1] run_id for which the journals were merged  ARGV[2] new era  ARGV[3] highest sequence seen by anybody
  ARGV[4] what happens to first sends where something was forgotten: 'wait' (for a person) | 'continue'

  Returns {'armed', era} | {'changed'} | {'waiting', sessions, ids of data folders} with blanks in between (neither: something
  is missed that a person has to accept)
]==]
--- @include "record"
--- @include "fence"
--- @include "data-folders"
--- @include "last-recovery"
--- @include "hold"
--- @include "first-sends"
local T, run, era, seen, afterRollback = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
if serverRun() ~= run then return { 'changed' } end
local armed, armedEra, seq, mergedSeen, found = unpack(redis.call('HMGET', T, 'armed', 'era', 'seq', 'mergedSeen', 'found'), 1, 5)
if armed == run and armedEra then return { 'armed', armedEra } end
if redis.call('HEXISTS', T, 'missed') == 1 then return { 'waiting', '', '' } end
local waiting = {}
local sessions = redis.call('HKEYS', T .. ':sessions')
for _, session in ipairs(sessions) do
  if redis.call('HGET', T .. ':merged', session) ~= run then waiting[#waiting + 1] = session end
end
local folders = foldersWaitedFor(T, run)
if #waiting + #folders > 0 then return { 'waiting', table.concat(waiting, ' '), table.concat(folders, ' ') } end
-- The sequence never goes back, so that nobody takes what was healed for another rollback.
local highest = math.max(tonumber(seq or '0'), tonumber(mergedSeen or '0'), seen)
redis.call('HSET', T, 'armed', run, 'era', era, 'seq', string.format('%d', highest))
redis.call('HDEL', T, 'fenceReason', 'fenceAt', 'mergedSeen', 'found', 'restored')
redis.call('DEL', T .. ':merged', T .. ':looks', T .. ':lostEras')
local now = nowMs()
if redis.call('EXISTS', T .. ':recovery') == 1 then redis.call('HSETNX', T .. ':recovery', 'at', now) end
redis.call('RPUSH', T .. ':eras', era .. ' ' .. (found or seq or '0'))
-- A restored store tells since when the breaker was open in a past: how long the realm was silent since, nobody knows.
if redis.call('HEXISTS', T, 'breaker') == 1 then redis.call('HSET', T, 'breaker', now) end
waitForPerson(T, afterRollback, now)
batches.flush(T)
for _, session in ipairs(sessions) do redis.call('HSET', T .. ':joined', session, run .. ' ' .. era) end
return { 'armed', era }
