--[[
  The request of a slot was answered, or timed out, or never left.

  KEYS[1] the realm
  ARGV[1] slot  ARGV[2] ms for which the whole realm holds back ('' for none; Retry-After)
]]
local T = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
if redis.call('HEXISTS', T .. ':pace:a', ARGV[1]) == 1 then
  redis.call('HSET', T .. ':pace:a', ARGV[1], string.format('a%.3f', now))
end
if ARGV[2] ~= '' then
  local hold = now + tonumber(ARGV[2])
  local held = tonumber(redis.call('HGET', T .. ':pace', 'hold') or '0')
  if hold > held then
    redis.call('HSET', T .. ':pace', 'hold', string.format('%.3f', hold), 'holdMs', ARGV[2])
  end
end
return 1
