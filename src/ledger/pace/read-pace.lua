--[==[
  What the pace of a realm has learnt, and its hold, judged as for the requests that leave now; times by the store's clock.

  KEYS[1] the realm
  ARGV[1] N, requests allowed ('' for no limit)  ARGV[2] W, the window in ms

  Returns {when the hold ends or 0, ms that were asked for, requests a window of others, slots used in the window of the
  lowest limit}, and where a lower one was learnt: requests, window in ms, 'h' | 'r', and since when
]==]
--- @include "pace"
local T, configured, configuredMs = KEYS[1], tonumber(ARGV[1]) or math.huge, tonumber(ARGV[2])
local now, ahead = paceNow(T .. ':pace')
local others = othersOf(paceLimits(T, configured, configuredMs, 0, now))
local hold, holdMs = unpack(redis.call('HMGET', T .. ':pace', 'hold', 'holdMs'))
local limit, limitMs, by, since = unpack(redis.call('HMGET', learntKey(T, configured, configuredMs), 'limit', 'limitMs', 'by', 'since'))
local holdEnd = tonumber(hold or '0')
local from = '(' .. stamp(now - (by == 'h' and tonumber(limitMs) or configuredMs))
local used = redis.call('ZCOUNT', T .. ':pace:w', from, '+inf') + redis.call('HLEN', T .. ':pace:o')
local told = { holdEnd > now and math.ceil(holdEnd - ahead) or 0, holdMs or '0', others, used }
if not limit then return told end
for _, fact in ipairs({ limit, limitMs, by, math.floor(tonumber(since) - ahead) }) do told[#told + 1] = fact end
return told
