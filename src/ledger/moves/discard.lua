--[==[
  Marks a dead letter as dealt with. It keeps its state; a doubt is never touched. An archive cannot be marked: there the letter
  leaves the list of those that wait for a person (see archive-batch), and the batch's audit says who did it.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] detail JSON  ARGV[4] the batch's id

  Returns {'ok'} | {'no', state code | 'gone'}
]==]
--- @include "record"
local T, no, index, detail, batch = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if not isBatch(T, no, batch) then return { 'no', 'gone' } end
local record = readRecord(T, no, index)
local code = stateOf(record, isCancelled(T, no))
if redis.call('HGET', batchKey(T, no), 'state') == 'archived' then
  local B, said = batchKey(T, no), cjson.decode(detail)
  local entry = cjson.encode({ at = said.at, who = said.who, what = 'discarded order ' .. batch .. '-' .. index, why = said.why })
  if redis.call('LPOS', B .. ':log', entry) then return { 'ok' } end
  if redis.call('ZREM', B .. ':a', index) == 0 then return { 'no', 'archived' } end
  redis.call('HINCRBY', B, 'aside', 1)
  redis.call('RPUSH', B .. ':log', entry)
  batches.touch(no)
  batches.flush(T)
  return { 'ok' }
end
if code ~= 'R' and code ~= 'X' then return { 'no', code } end
local fields = decodeRecord(record)
if string.find(fields.marks or '', 'd', 1, true) then return { 'ok' } end
writeMarks(T, no, index, fields, 'd' .. (fields.marks or ''))
redis.call('RPUSH', batchKey(T, no) .. ':x:' .. index, detail)
batches.flush(T)
return { 'ok' }
