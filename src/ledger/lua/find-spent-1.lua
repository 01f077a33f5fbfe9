--[[
  Which of these references are spent, and by whom. Reads only.
  A reference held by a batch that is still being imported is not called spent: should that import never be
  sealed, a row taken for its duplicate would be lost. The put of the block decides.

  KEYS[1] the realm
  ARGV    shard, field (binary), shard, field, …

  Returns [position (from 0), holder, position, holder, …]
]]
--- @include "record"
--- @include "reference"
local T = KEYS[1]
local found = {}
for i = 1, #ARGV, 2 do
  local holder, state = spentBy(T, ARGV[i], ARGV[i + 1], '', '')
  if holder and state ~= 'importing' then
    found[#found + 1] = (i - 1) / 2
    found[#found + 1] = holder
  end
end
return found
