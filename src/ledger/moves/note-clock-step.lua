--[==[
  A sender found that the store's clock went ahead. What was waiting by that clock waits for the longest settle time anew,
  and requests of sessions that left arrive for as long as before.

  KEYS[1] the realm
  ARGV[1] the store's time after the step, ms  ARGV[2] settle time of who found it, ms  ARGV[3] how far it went ahead, ms

  Returns until when nothing of before is over
]==]
--- @include "record"
local T, steppedTo, finderSettleMs, aheadMs = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local all = redis.call('HGETALL', T .. ':waits')
for i = 2, #all, 2 do
  local limits, ends = string.match(all[i], '^(%d+ %d+) (%d+)$')
  -- What was over before the step is over.
  if limits and tonumber(ends) > steppedTo - aheadMs then
    redis.call('HSET', T .. ':waits', all[i - 1], limits .. string.format(' %.0f', tonumber(ends) + aheadMs))
  end
end
local settle = math.max(finderSettleMs, (longestLimits(T)))
local ends = math.max(steppedUntil(T), steppedTo + settle)
redis.call('HSET', T, 'steppedUntil', string.format('%.0f', ends))
return string.format('%.0f', ends)
