--[==[
  After a rollback first sends wait for a person: the store has forgotten who paused or cancelled what meanwhile. Unknown
  orders go on being resolved, so that their keys do not age. Needs `record`.

    T 'forgot'       '1': the store was found to have forgotten something since the ledger was last opened
    T 'waitsSince'   when the ledger was opened after that; gone once a person has resumed
    T:unresumed      the batches that were open then, by number
]==]
--- Whether no order of the batch may be sent for the first time before a person resumes.
local function waitsForPerson(T, no)
  return redis.call('SISMEMBER', T .. ':unresumed', no) == 1
end

--- The ledger opens after a rollback: everything that was to be sent waits. What is sealed later does not.
local function waitForPerson(T, now)
  redis.call('HSET', T, 'waitsSince', now)
  for _, no in ipairs(redis.call('SMEMBERS', T .. ':open')) do
    if redis.call('HGET', batchKey(T, no), 'state') ~= 'importing' then redis.call('SADD', T .. ':unresumed', no) end
  end
end
