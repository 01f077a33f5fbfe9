--[[
  Stores one block of a plan, takes the references of its orders and marks the orders it replaces, all or
  nothing. Safe to run twice: what this batch holds already is no conflict.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] importer  ARGV[3] block number  ARGV[4] compressed block
  ARGV[5] JSON {
    refs:     [[shard, field, digest, index], …]   references to take
    replaces: [[no, index, tokens], …]             orders that rows of this block stand in for
    records:  [[index, record], …]                 rows that are no orders: duplicate, invalid
  } with binary fields as hex

  Returns {'ok'} | {'not-importer'} | {'conflict', JSON [['ref', index, holder, batch state] | ['replaces', no, index, state], …]}
]]
--- @include "record"
--- @include "reference"
local T, no, importer, block, bytes = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local B = batchKey(T, no)
local held = redis.call('HMGET', B, 'state', 'importer')
if held[1] ~= 'importing' or held[2] ~= importer then return { 'not-importer' } end

local function unhex(hex)
  return (string.gsub(hex, '..', function(pair) return string.char(tonumber(pair, 16)) end))
end

local content = cjson.decode(ARGV[5])
local conflicts = {}
for _, ref in ipairs(content.refs) do
  ref[2] = unhex(ref[2])
  ref[4] = tostring(ref[4])
  local holder, state = spentBy(T, ref[1], ref[2], no, ref[4])
  if holder then conflicts[#conflicts + 1] = { 'ref', ref[4], holder, state } end
end

local REPLACEABLE = { R = true, X = true, c = true, d = true, i = true }
local mark = 'r' .. no
for _, old in ipairs(content.replaces) do
  local record = readRecord(T, old[1], old[2])
  local state = stateOf(record, isCancelled(T, old[1]))
  local marks = record and split(record)[10] or ''
  local replacedBy = string.match(marks, 'r(%d+)')
  if not REPLACEABLE[state] then
    conflicts[#conflicts + 1] = { 'replaces', old[1], old[2], state }
  elseif replacedBy and replacedBy ~= no then
    conflicts[#conflicts + 1] = { 'replaces', old[1], old[2], 'r' .. replacedBy }
  end
end
if #conflicts > 0 then return { 'conflict', cjson.encode(conflicts) } end

for _, ref in ipairs(content.refs) do
  takeReference(T, ref[1], ref[2], ref[3], no, ref[4])
end
for _, old in ipairs(content.replaces) do
  local record = readRecord(T, old[1], old[2]) or 'c|1|0|0||||||'
  local fields = split(record)
  if fields[1] == 'w' then fields[1] = 'c' end
  if not string.find(fields[10] or '', mark, 1, true) then fields[10] = (fields[10] or '') .. mark end
  writeRecord(T, old[1], old[2], table.concat(fields, '|'))
  redis.call('HINCRBY', batchKey(T, old[1]), 'version', 1)
end
for _, row in ipairs(content.records) do
  writeRecord(T, no, tostring(row[1]), row[2])
end
redis.call('SET', B .. ':p:' .. block, bytes)
redis.call('HSET', B, 'blocks', math.max(tonumber(redis.call('HGET', B, 'blocks')), tonumber(block) + 1))
return { 'ok' }
