--[[
  A session joins the realm before its first claim, and again whenever a registry may have forgotten it. One that
  was given up never comes back.

  KEYS[1] the realm
  ARGV[1] session  ARGV[2] entry JSON  ARGV[3] name of its place  ARGV[4] settle time of the realm's profile in ms
  ARGV[5] '1': only where the registry has forgotten it (on behalf of a session that lives)

  Returns 'ok' | 'lost'
]]
--- @include "record"
--- @include "fence"
local T, session = KEYS[1], ARGV[1]
if redis.call('HEXISTS', T .. ':lost', session) == 1 then return 'lost' end
redis.call('SADD', T .. ':places', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', T, 'settleMs', ARGV[4]) end
if ARGV[5] == '1' then
  redis.call('HSETNX', T .. ':sessions', session, ARGV[2])
  return 'ok'
end
redis.call('HSET', T .. ':sessions', session, ARGV[2])
redis.call('HSET', T .. ':seen', session, nowMs())
-- Armed for this very server: from here on the store forgets nothing of the session without being found out.
local state = redis.call('HMGET', T, 'armed', 'era')
if state[1] and state[1] == serverRun() then
  redis.call('HSETNX', T .. ':joined', session, state[1] .. ' ' .. (state[2] or ''))
end
return 'ok'
