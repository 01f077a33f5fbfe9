--[==[
  Takes back one block of a batch that was never sealed: releases its references and the marks on the
  orders it was to replace. The call for the last block also forgets the batch.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] importer  ARGV[3] block number
  ARGV[4] JSON {refs: [[shard, field hex, index], …], replaces: [[no, index, row], …]}  ARGV[5] '1' for the last call

  Returns 'ok' | 'not-importer'
]==]
--- @include "record"
--- @include "row"
--- @include "earlier"
--- @include "reference"
local T, no, importer, block = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local B = batchKey(T, no)
local held = redis.call('HMGET', B, 'state', 'importer', 'id', 'content', 'former')
if held[1] ~= 'importing' or held[2] ~= importer then return 'not-importer' end

local content = cjson.decode(ARGV[4])
for _, ref in ipairs(content.refs) do
  local field = unhex(ref[2])
  releaseReference(T, ref[1], field, no, tostring(ref[3]))
end
for _, old in ipairs(content.replaces) do
  local record = readRecord(T, old[1], old[2])
  if record then
    local fields = split(record)
    local others = string.gsub(fields[10] or '', 'r[%d.]+$', '')
    if replacedBy(fields) == no then writeMarks(T, old[1], old[2], fields, others) end
  end
end
redis.call('HDEL', B .. ':accounts', block)
redis.call('UNLINK', B .. ':p:' .. block, B .. ':o:' .. (2 * tonumber(block)), B .. ':o:' .. (2 * tonumber(block) + 1))
if ARGV[5] == '1' then
  redis.call('HDEL', T .. ':batches', held[3])
  redis.call('HDEL', T .. ':content', held[4])
  if held[5] and redis.call('HGET', T .. ':former', held[5]) == no then redis.call('HDEL', T .. ':former', held[5]) end
  redis.call('UNLINK', B)
end
return 'ok'
