--[==[
  A session is proven dead: no request of it will arrive any more, so its slots count as answered now instead
  of at their time-out.

  KEYS[1] the realm
  ARGV[1] the session

  Returns how many slots were free
]==]
--- @include "pace"
local T, whose = KEYS[1], ' ' .. ARGV[1] .. ' '
local now, freed = paceNow(T .. ':pace'), 0
eachUnderWay(T, function(slot, _, by)
  if string.sub(by, 1, #whose) == whose and noteAnswered(T, slot, now) then freed = freed + 1 end
end)
if freed > 0 then redis.call('HSET', T .. ':pace', 'clock', stamp(now)) end
return freed
