--[==[
  Gives orders that are due, but have no live job, a new dispatch generation; ':g' remembers it while they
  are open. What waits for a member, or was taken back, is not due and gets none; nor does what waits for a person after a
  rollback.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] session ('' unless the batch is a run)  ARGV[3…] indexes

  Returns the generation (0 where the batch is not the asker's to work) followed by the indexes that are still open
]==]
--- @include "record"
--- @include "first-sends"
local T, no = KEYS[1], ARGV[1]
local B = batchKey(T, no)
local meta = redis.call('HMGET', B, 'state', 'owner')
-- An unknown of a cancelled batch still has to be resolved, so it is dispatched there as well.
if (meta[1] ~= 'running' and meta[1] ~= 'cancelled') or meta[2] ~= ARGV[2] then return { 0 } end
local open = { redis.call('HINCRBY', B, 'generation', 1) }
local waits = waitsForPerson(T, no)
for i = 3, #ARGV do
  local code = stateOf(readRecord(T, no, ARGV[i]), meta[1] == 'cancelled')
  if (code == 'u' or code == 'p' and not waits) and redis.call('ZSCORE', B .. ':due', ARGV[i]) then
    open[#open + 1] = ARGV[i]
    redis.call('HSET', B .. ':g', ARGV[i], open[1])
  elseif code ~= 's' and code ~= 'p' and code ~= 'u' then
    undispatch(T, no, ARGV[i])
  end
end
batches.flush(T)
return open
