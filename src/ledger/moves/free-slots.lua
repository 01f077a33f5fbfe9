--[[
  A session is proven dead: no request of it will arrive any more, so its slots count as answered now instead
  of at their time-out.

  KEYS[1] the realm
  ARGV[1] the session

  Returns how many slots were free
]]
--- @include "pace"
local answers, whose = KEYS[1] .. ':pace:a', ' ' .. ARGV[1] .. ' '
local entries, freed = redis.call('HGETALL', answers), 0
for i = 1, #entries, 2 do
  local kind, granted, by = readSlot(entries[i + 1])
  if kind == 'g' and string.sub(by, 1, #whose) == whose then
    redis.call('HSET', answers, entries[i], 'a' .. stamp(paceNow()) .. ' ' .. stamp(granted))
    freed = freed + 1
  end
end
return freed
