--[[
  A session is proven dead: no request of it will arrive any more, so its slots count as answered now instead
  of at their time-out.

  KEYS[1] the realm
  ARGV[1] the session

  Returns how many slots were free
]]
--- @include "pace"
local T, whose = KEYS[1], ' ' .. ARGV[1] .. ' '
local now, freed = paceNow(T .. ':pace'), 0
local entries = redis.call('HGETALL', T .. ':pace:a')
for i = 1, #entries, 2 do
  local kind, granted, by = readSlot(entries[i + 1])
  if kind == 'g' and string.sub(by, 1, #whose) == whose then
    noteAnswered(T, entries[i], now, granted)
    freed = freed + 1
  end
end
return freed
