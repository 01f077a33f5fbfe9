--[==[
  Which of these references are spent, and by whom. Reads only.
  A reference held by a batch that is still being imported is not called spent: should that import never be
  sealed, a row taken for its duplicate would be lost. The put of the block decides.

  KEYS[1] the realm
  ARGV[1] packed references, 14 bytes each: 4 of the shard, 10 of the field

  Returns [position (from 0), holder, position, holder, …]; a holder that only keeps it until its request can no
  longer arrive has that time behind it: '<holder>:<ms>'
]==]
--- @include "record"
--- @include "reference"
local T, packed = KEYS[1], ARGV[1]
local found = {}
local sub = string.sub
for at = 1, #packed, 14 do
  local holder, state, arrives = spentBy(T, sub(packed, at, at + 3), sub(packed, at + 4, at + 13), '', '')
  if holder and state ~= 'importing' then
    found[#found + 1] = (at - 1) / 14
    found[#found + 1] = arrives and holder .. ':' .. arrives or holder
  end
end
return found
