--[[
  What became of a scheduled time, and that it is dealt with: once, whoever does it, and however often it is asked.

    T:rules:last   rule → JSON of what became of the last time of its schedule; `at` is that time
]]
local function noteScheduled(T, rule, last)
  local known = redis.call('HGET', T .. ':rules:last', rule)
  if known == last then return true end
  if known and cjson.decode(known).at >= cjson.decode(last).at then return false end
  redis.call('HSET', T .. ':rules:last', rule, last)
  return true
end
