--[==[
  Frees references that a batch holds for orders which were never paid, before the batch is archived: what an
  archived batch holds counts as spent. Each is looked at again, and what has been paid or may be is kept.

  KEYS[1] the realm
  ARGV[1] batch no
  ARGV[2] references, packed, 15 bytes each: 1 the row's place, 4 shard, 10 field  ARGV[3] index of place 0

  Returns how many were freed
]==]
--- @include "record"
--- @include "reference"
local T, no, packed, first = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local cancelled = isCancelled(T, no)
local freed = 0
for at = 1, #packed, 15 do
  local index = string.format('%d', first + string.byte(packed, at))
  if not spends(T, readRecord(T, no, index), cancelled) then
    releaseReference(T, string.sub(packed, at + 1, at + 4), string.sub(packed, at + 5, at + 14), no, index)
    freed = freed + 1
  end
end
return freed
