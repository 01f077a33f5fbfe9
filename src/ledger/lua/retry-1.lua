--[[
  Puts a dead letter back to work. Never a doubt; never an order whose reference was spent again or whose
  row was put into another file.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] tokens  ARGV[4] detail JSON, with the nonce of this retry in it
  ARGV[5] shard ('' without reference)  ARGV[6] reference field hex  ARGV[7] content digest

  Returns {'ok'} | {'no', why, more}: why is a state code, 'replaced', 'discarded', 'reference', 'cancelled', 'archived'
]]
--- @include "record"
--- @include "move"
--- @include "reference"
local T, no, index, tokens = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local B = batchKey(T, no)
local record = readRecord(T, no, index)
local fields = record and split(record) or { 'p' }
local state = redis.call('HGET', B, 'state')
-- The same retry asked twice is one retry, even when the order has gone on since.
if alreadyNoted(T, no, index, ARGV[4]) then return { 'ok' } end
if fields[1] ~= 'R' and fields[1] ~= 'X' then return { 'no', stateOf(record, state == 'cancelled'), '' } end
local replacedBy = string.match(fields[10] or '', 'r(%d+)')
if replacedBy then return { 'no', 'replaced', redis.call('HGET', batchKey(T, replacedBy), 'id') or '' } end
if string.find(fields[10] or '', 'd', 1, true) then return { 'no', 'discarded', '' } end
if state == 'cancelled' then return { 'no', 'cancelled', '' } end
-- Its rows are about to leave the store; what is written now would be lost with them.
if state == 'archived' then return { 'no', 'archived', '' } end
if ARGV[5] ~= '' then
  local field = string.gsub(ARGV[6], '..', function(pair) return string.char(tonumber(pair, 16)) end)
  local holder = spentBy(T, ARGV[5], field, no, index)
  if holder then return { 'no', 'reference', holder } end
  takeReference(T, ARGV[5], field, ARGV[7], no, index)
end

local from = fields[1]
writeRecord(T, no, index, table.concat(
  { 'w', fields[2], fields[3], '0', fields[5], '', '', '', '', fields[10] or '' }, '|'))
move(T, no, index, from, 'w', tokens)
redis.call('ZADD', B .. ':due', nowMs(), index)
redis.call('RPUSH', B .. ':x:' .. index, ARGV[4])
if state == 'done' then
  -- The process of a finished run is gone: whoever works it now is a worker, or a run that takes it over.
  redis.call('HSET', B, 'state', 'running', 'owner', '')
  redis.call('HDEL', B, 'finishedAt')
  redis.call('SADD', T .. ':open', no)
end
return { 'ok' }
