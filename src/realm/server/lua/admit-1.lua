--[==[
  Admits a request into the realm's sliding window: the last `window` microseconds never hold more than
  `limit` admitted requests. The script keeps a log of arrival times. Counters per fixed window would let
  twice the limit pass around their edge. Refused requests are not logged, so a caller that retries too
  early is not shut out for longer.

  Input:
    KEYS[1] admitted requests (sorted set, score = arrival in microseconds)

    ARGV[1] limit
    ARGV[2] window, microseconds

  Output:
    { 1 or 0 (admitted), remaining, microseconds until the oldest request leaves the window }
]==]
local requestsKey = KEYS[1]
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local newest = tonumber(redis.call('ZRANGE', requestsKey, -1, -1)[1] or '0')
-- An entry in the future means that the clock was set back. Waiting for it could take forever, so the log is dropped.
if newest > now + window then
  redis.call('DEL', requestsKey)
  newest = 0
end
-- Each arrival gets a microsecond of its own, so that it can be its own set member.
if now <= newest then now = newest + 1 end

redis.call('ZREMRANGEBYSCORE', requestsKey, '-inf', string.format('%.0f', now - window))
local count = redis.call('ZCARD', requestsKey)
local admitted = 0
if count < limit then
  local arrival = string.format('%.0f', now)
  redis.call('ZADD', requestsKey, arrival, arrival)
  redis.call('PEXPIRE', requestsKey, math.ceil(window / 1000) + 1000)
  count = count + 1
  admitted = 1
end
local oldest = tonumber(redis.call('ZRANGE', requestsKey, 0, 0)[1])
return { admitted, limit - count, oldest + window - now }
