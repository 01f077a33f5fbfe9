--[==[
  Stores one block of a plan, takes the references of its orders and marks the orders it replaces, all or
  nothing. Safe to run twice: what this batch holds already is no conflict, whichever of its rows took it
  (an importer that was taken over may have counted rows that are no orders, which are no part of the
  batch's identity), unless a recovered order at another index holds it.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] importer  ARGV[3] block number  ARGV[4] compressed block
  ARGV[5] index of the block's first row
  ARGV[6] references to take, packed, 21 bytes each: 1 the row's place in the block, 4 shard, 10 field, 6 digest
  ARGV[7] '' or JSON {
    replaces: [[no, index, row, batch id], …]  orders that rows of this block stand in for
    undoes:   [[no, index, row], …]  orders that they undo
    records:  [[index, record], …]   rows that are no orders: duplicate, invalid
    accounts: [[account, first, last, tokens], …]   see `account`
  }

  Returns {'ok'} | {'not-importer'} | {'conflict', JSON [['ref', index, holder, batch state] | ['replaces' | 'undoes', row, no, index, why], …]}
]==]
--- @include "record"
--- @include "row"
--- @include "reference"
--- @include "second"
--- @include "debt"
--- @include "earlier"
--- @include "unsealed"
local T, no, importer, block, bytes = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local first, packed, contentJson = tonumber(ARGV[5]), ARGV[6], ARGV[7]
local B = batchKey(T, no)
local batchState, heldBy, takes, recovered = unpack(redis.call('HMGET', B, 'state', 'importer', 'takes', 'recovered'), 1, 4)
if not isImportable(batchState, recovered) or heldBy ~= importer then return { 'not-importer' } end

--- A recovered order was sent from its own row: another row of the batch does not take its reference.
local function isRecoveredRow(index)
  return recovered and redis.call('HEXISTS', B .. ':rows', index) == 1
end

local unpackOne = struct.unpack
-- Nearly every reference is new: it is taken at once, and given back should another row have a conflict.
local fresh, taken, conflicts = {}, {}, {}
for at = 1, #packed, 21 do
  local place, shard, field, digest = unpackOne('Bc4c10c6', packed, at)
  local index = string.format('%d', first + place)
  if redis.call('HSETNX', T .. ':ref:' .. shard, field, digest .. ':' .. no .. ':' .. index) == 1 then
    fresh[#fresh + 1] = at
  else
    local holder, state = spentBy(T, shard, field, no, index)
    local _, holderNo, holderIndex = parseHolder(holder or '')
    if holder and (holderNo ~= no or isRecoveredRow(holderIndex)) then conflicts[#conflicts + 1] = { 'ref', index, holder, state } end
    taken[#taken + 1] = { shard, field, digest, index }
  end
end
local content = contentJson == '' and { replaces = {}, undoes = {}, records = {}, accounts = {} } or cjson.decode(contentJson)

local take = takes or '0'
judgeReplaced(T, content.replaces, no, take, conflicts)
for _, old in ipairs(content.undoes) do
  local oldNo, oldIndex, row = unpack(old)
  local why = notUndoable(T, oldNo, oldIndex)
  if why then conflicts[#conflicts + 1] = { 'undoes', row, oldNo, oldIndex, why } end
end
if #conflicts > 0 then
  for _, at in ipairs(fresh) do
    local _, shard, field = unpackOne('Bc4c10c6', packed, at)
    redis.call('HDEL', T .. ':ref:' .. shard, field)
  end
  return { 'conflict', cjson.encode(conflicts) }
end

for _, ref in ipairs(taken) do
  local shard, field, digest, index = unpack(ref)
  takeReference(T, shard, field, digest, no, index)
end
for _, old in ipairs(content.replaces) do
  local oldNo, oldIndex, row = unpack(old)
  local record = readRecord(T, oldNo, oldIndex) or 'c|1|0|0||||||'
  local fields = decodeRecord(record)
  if fields.state == 'w' then fields.state = 'c' end
  local others = string.gsub(fields.marks or '', 'r[%d.]+$', '')
  -- An importer that was taken over may have counted the row otherwise.
  local byNo, byRow = replacedBy(fields)
  if byNo == no and not isRecoveredRow(byRow) then leaveDebt(T, memberAt(T, no, byRow)) end
  writeMarks(T, oldNo, oldIndex, fields, others .. 'r' .. no .. '.' .. row .. '.' .. take)
  local order = memberAt(T, oldNo, oldIndex)
  if redis.call('HEXISTS', T .. ':debts', 'o' .. order) == 1 then joinDebt(T, order, memberAt(T, no, row)) end
end
-- Records of an importer that was taken over may speak of other rows; those of recovered orders stay.
dropRecords(T, no, block)
for _, other in ipairs(content.records) do
  local place, record = unpack(other)
  -- A journal may have put it back since the plan was made: it is an order, and its record says what became of it.
  local index = tostring(place)
  if redis.call('HEXISTS', B .. ':rows', index) == 0 then writeRecord(T, no, index, record) end
end
redis.call('HDEL', B .. ':accounts', block)
if #content.accounts > 0 then redis.call('HSET', B .. ':accounts', block, cjson.encode(content.accounts)) end
redis.call('SET', B .. ':p:' .. block, bytes)
redis.call('HSET', B, 'blocks', math.max(tonumber(redis.call('HGET', B, 'blocks')), tonumber(block) + 1))
batches.flush(T)
return { 'ok' }
