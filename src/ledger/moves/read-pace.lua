--[[
  What the pace of a realm has learnt, and its hold, judged as for the requests that leave now; times by the store's clock.

  KEYS[1] the realm
  ARGV[1] N, requests allowed ('' for no limit)  ARGV[2] W, the window in ms

  Returns {when the hold ends or 0, ms that were asked for, requests a window of others}, and where a lower limit was
  learnt: requests, window in ms, 'h' | 'r', and since when
]]
--- @include "pace"
local T, configured, configuredMs = KEYS[1], tonumber(ARGV[1]) or math.huge, tonumber(ARGV[2])
local now, ahead = paceNow(T .. ':pace')
local _, _, others = paceLimit(T, configured, configuredMs, 0, now)
local hold, holdMs = unpack(redis.call('HMGET', T .. ':pace', 'hold', 'holdMs'))
local limit, limitMs, by, since = unpack(redis.call('HMGET', learntKey(T, configured, configuredMs), 'limit', 'limitMs', 'by', 'since'))
local holdEnd = tonumber(hold or '0')
-- A nil ends the list.
return { holdEnd > now and math.ceil(holdEnd - ahead) or 0, holdMs or '0', others, limit or nil, limitMs, by, limit and math.floor(tonumber(since) - ahead) }
