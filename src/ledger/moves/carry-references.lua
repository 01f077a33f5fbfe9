--[==[
  Marks references as spent that were paid elsewhere: by a ledger of another version, or by another tool. They are held by a
  batch that is archived from its beginning, has no rows and is in no list.

  KEYS[1] the realm
  ARGV[1] number of that batch ('' for the first call)  ARGV[2] its id  ARGV[3] note JSON
  ARGV[4] packed references: 4 shard, 10 field, 6 digest of the content ('??????' where nobody knows it), 4 line

  Returns {'gone'} (the store has forgotten that batch) | {number, how many were marked, how many are spent already}. Beside an order of this ledger that was paid under it,
  a reference is kept as well: an undo of that order does not free it.
]==]
--- @include "record"
--- @include "format"
--- @include "reference"
--- @include "second"
--- @include "debt"
local T, no, id, note, packed = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local other = otherFormat(T)
if other then return { other } end
if no == '' then
  no = 'c' .. redis.call('HINCRBY', T, 'carried', 1)
  redis.call('HSET', batchKey(T, no), 'id', id, 'state', 'archived', 'carried', note)
elseif redis.call('HGET', batchKey(T, no), 'id') ~= id then
  return { 'gone' }
end

--- Whether a batch of this kind is among the entries. One is enough: nothing undoes it, so that it keeps the reference
--- spent, and the same file may be added any number of times.
local function isCarried(entries)
  return string.find(' ' .. entries, ' [^: ]*:c%d+:') ~= nil
end

local marked, spent = 0, 0
for at = 1, #packed, 24 do
  local shard, field, digest, line = struct.unpack('c4c10c6>I4', packed, at)
  local holder = spentBy(T, shard, field, '', '')
  local isSpent = holder and isPaidHolder(T, holder)
  if not isSpent or not isCarried(holder .. ' ' .. (redis.call('HGET', T .. ':besides', shard .. field) or '')) then
    takeForDebt(T, { shard = shard, field = field, digest = digest }, no, string.format('%d', line))
  end
  if isSpent then spent = spent + 1 else marked = marked + 1 end
end
return { no, tostring(marked), tostring(spent) }
