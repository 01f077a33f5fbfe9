--[[
  A person, or an interrupted run, steers a batch. What is being sent finishes in every case.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] pause | resume | cancel  ARGV[3] audit JSON  ARGV[4] reason JSON (pause)
  ARGV[5] owner after a resume ('' hands it to the workers)
  ARGV[6] owner it must have now ('*' for any): an interrupted run pauses only what is still its own
  ARGV[7] how many orders this resume may feed ('' for all)  ARGV[8] reason JSON when that many are through

  Returns {'ok', state} | {'no', state}
]]
--- @include "record"
--- @include "move"
local T, no, verb = KEYS[1], ARGV[1], ARGV[2]
local B = batchKey(T, no)
local meta = redis.call('HMGET', B, 'state', 'owner')
local state = meta[1]
if not state or state == 'importing' or state == 'archived' then return { 'no', state or 'gone' } end
if ARGV[6] ~= '*' and ARGV[6] ~= meta[2] then return { 'no', 'owner' } end

if verb == 'pause' then
  if state ~= 'running' and state ~= 'planned' then return { 'no', state } end
  redis.call('HSET', B, 'state', 'paused', 'reason', ARGV[4])
elseif verb == 'resume' then
  if state == 'done' or state == 'cancelled' then return { 'no', state } end
  redis.call('HSET', B, 'state', 'running', 'owner', ARGV[5])
  redis.call('HSETNX', B, 'startedAt', nowMs())
  redis.call('HDEL', B, 'reason', 'refusals', 'refusalClass', 'limit', 'limitReason')
  if ARGV[7] ~= '' then
    redis.call('HSET', B, 'limit', ARGV[7], 'limitReason', ARGV[8])
  end
  redis.call('SADD', T .. ':open', no)
elseif verb == 'cancel' then
  if state == 'done' or state == 'cancelled' then return { 'no', state } end
  redis.call('HSET', B, 'state', 'cancelled', 'finishedAt', nowMs())
  redis.call('HDEL', B, 'reason', 'limit', 'limitReason')
  -- All that was never sent becomes cancelled by this one flag; the counters say so at once.
  local counters = B .. ':n'
  local planned = redis.call('HMGET', counters, 'c:p', 't:p')
  redis.call('HINCRBY', counters, 'c:c', planned[1] or '0')
  redis.call('HINCRBY', counters, 't:c', planned[2] or '0')
  redis.call('HSET', counters, 'c:p', 0, 't:p', 0)
  -- What waits for a retry leaves the due list; an unknown stays, it must still be resolved.
  for _, index in ipairs(redis.call('ZRANGE', B .. ':due', 0, -1)) do
    local record = readRecord(T, no, index)
    if not record or string.sub(record, 1, 1) == 'w' then redis.call('ZREM', B .. ':due', index) end
  end
end
if ARGV[3] ~= '' then redis.call('RPUSH', B .. ':log', ARGV[3]) end
redis.call('HINCRBY', B, 'version', 1)
return { 'ok', redis.call('HGET', B, 'state') }
