--[==[
  Admits a request into the realm's sliding window: at no moment do the last `window` microseconds hold
  more than `limit` admitted requests. A log of arrival times, not a counter, because counters per fixed
  window let twice the limit pass around their edge. Refused requests are not logged: who keeps asking
  too early is not shut out for longer.

  Input:
    KEYS[1] admitted requests (sorted set, score = arrival in microseconds)

    ARGV[1] limit
    ARGV[2] window, microseconds

  Output:
    { 1 or 0 (admitted), remaining, microseconds until the oldest request leaves the window }
]==]
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local newest = tonumber(redis.call('ZRANGE', KEYS[1], -1, -1)[1] or '0')
-- A request logged in the future means that the clock was set back; waiting for it could take for ever.
if newest > now + window then
  redis.call('DEL', KEYS[1])
  newest = 0
end
-- Each arrival has a microsecond of its own, so that it can be its own member.
if now <= newest then now = newest + 1 end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - window))
local count = redis.call('ZCARD', KEYS[1])
local admitted = 0
if count < limit then
  local arrival = string.format('%.0f', now)
  redis.call('ZADD', KEYS[1], arrival, arrival)
  redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000) + 1000)
  count = count + 1
  admitted = 1
end
local oldest = tonumber(redis.call('ZRANGE', KEYS[1], 0, 0)[1])
return { admitted, limit - count, oldest + window - now }
