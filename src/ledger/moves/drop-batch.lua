--[==[
  Takes back one block of a batch that was never sealed: releases its references and the marks on the
  orders it was to replace. The call for the last block also forgets the batch, or leaves it the recovered one that it was.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] importer  ARGV[3] block number
  ARGV[4] JSON {refs: [[shard, field hex, index], …], replaces: [[no, index, row], …]}  ARGV[5] '1' for the last call

  Returns 'ok' | 'not-importer'
]==]
--- @include "record"
--- @include "row"
--- @include "reference"
--- @include "second"
--- @include "debt"
--- @include "earlier"
--- @include "unsealed"
local T, no, importer, block, contentJson, isLast = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'
local B = batchKey(T, no)
local state, holder, id, hash, recovered = unpack(redis.call('HMGET', B, 'state', 'importer', 'id', 'content', 'recovered'), 1, 5)
if not (state == 'importing' or recovered) or holder ~= importer then return 'not-importer' end

local content = cjson.decode(contentJson)
for _, ref in ipairs(content.refs) do
  local shard, fieldHex, place = unpack(ref)
  -- Put back by a journal meanwhile, the order holds its reference by what it met.
  local index = tostring(place)
  if redis.call('HEXISTS', B .. ':rows', index) == 0 then releaseReference(T, shard, unhex(fieldHex), no, index) end
end
for _, old in ipairs(content.replaces) do
  local oldNo, oldIndex = unpack(old)
  local record = readRecord(T, oldNo, oldIndex)
  if record then
    local fields = decodeRecord(record)
    local others = string.gsub(fields.marks or '', 'r[%d.]+$', '')
    local byNo, byRow = replacedBy(fields)
    if byNo == no then
      writeMarks(T, oldNo, oldIndex, fields, others)
      -- Put back by a journal meanwhile, the order is of that debt by what it met.
      if redis.call('HEXISTS', B .. ':rows', byRow) == 0 then leaveDebt(T, memberAt(T, no, byRow)) end
    end
  end
end
redis.call('HDEL', B .. ':accounts', block)
redis.call('UNLINK', B .. ':p:' .. block)
dropRecords(T, no, block)
if isLast then
  redis.call('HDEL', T .. ':content', hash)
  if recovered then
    redis.call('HDEL', B, 'importer', 'importerAt', 'content')
    batches.touch(no)
  else
    batches.drop(T, no, id)
  end
end
batches.flush(T)
return 'ok'
