--[==[
  While the breaker is open, one process at a time may probe the realm with a read.

  KEYS[1] the realm
  ARGV[1] ms between probes  ARGV[2] ms open after which the realm is halted  ARGV[3] reason JSON for that

  Returns 'closed' | 'probe' (it is your turn) | 'wait' | 'halted'
]==]
--- @include "record"
local T, everyMs, haltMs, reason = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local openedAt, nextProbe, halt = unpack(redis.call('HMGET', T, 'breaker', 'probeAt', 'halt'))
if halt then return 'halted' end
if not openedAt then return 'closed' end
local now = nowMs()
if now - tonumber(openedAt) > haltMs then
  redis.call('HSET', T, 'halt', reason, 'haltAt', now)
  redis.call('HDEL', T, 'breaker', 'breakerUntil', 'probeAt', 'unknowns')
  return 'halted'
end
local probeAt = tonumber(nextProbe or '0')
if now < probeAt and probeAt - now <= everyMs then return 'wait' end
redis.call('HSET', T, 'probeAt', now + everyMs, 'breakerUntil', tonumber(openedAt) + haltMs)
return 'probe'
