--[==[
  Gives orders that are due, but have no live job, a new dispatch generation; ':g' remembers it while they
  are open. What waits for a member, or was taken back, is not due and gets none; nor does what waits for a person after a
  rollback.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] session ('' unless the batch is a run)  ARGV[3…] indexes

  Returns the generation (0 where the batch is not the asker's to work) followed by the indexes that are still open
]==]
--- @include "record"
local T, no, session, indexes = KEYS[1], ARGV[1], ARGV[2], ARGV
local B = batchKey(T, no)
local batch, waits = batchToSweep(T, no, session)
if not batch then return { 0 } end
local generation = redis.call('HINCRBY', B, 'generation', 1)
local open = { generation }
for i = 3, #indexes do
  local index = indexes[i]
  local code = stateOf(readRecord(T, no, index), batch.state == 'cancelled')
  if (code == 'u' or code == 'p' and not waits) and redis.call('ZSCORE', B .. ':due', index) then
    open[#open + 1] = index
    redis.call('HSET', B .. ':g', index, generation)
  elseif code ~= 's' and code ~= 'p' and code ~= 'u' then
    undispatch(T, no, index)
  end
end
batches.flush(T)
return open
