--[==[
  After a rollback first sends wait for a person: the store has forgotten who paused or cancelled what meanwhile. Unknown
  orders go on being resolved, so that their keys do not age. Needs `record`.

    T 'forgot'       '1': the store was found to have forgotten something since the ledger was last opened
    T 'waitsSince'   when the ledger was opened after that; gone once a person has resumed
    T 'mustWait'     '1': a session that has merged since the ledger was closed wants it so; one that prefers to go on does not
                     overrule it
    T:unresumed      the batches that were open then, by number
]==]
--- Whether no order of the batch may be sent for the first time before a person resumes.
local function waitsForPerson(T, no)
  return redis.call('SISMEMBER', T .. ':unresumed', no) == 1
end

--- Whether schedules wait.
local function waitsAtAll(T)
  return redis.call('HEXISTS', T, 'waitsSince') == 1
end

--- Orders of a recovered batch may wait; once its file was given again, a person has said so.
local function sealedAfterwards(T, no)
  redis.call('SREM', T .. ':unresumed', no)
end

--- The ledger opens, after a rollback perhaps: everything that was to be sent then waits. What is sealed later does not.
local function waitForPerson(T, asked, now)
  local mustWait = redis.call('HDEL', T, 'mustWait') == 1 or asked ~= 'continue'
  if redis.call('HDEL', T, 'forgot') == 0 or not mustWait then return end
  redis.call('HSET', T, 'waitsSince', now)
  for _, no in ipairs(redis.call('SMEMBERS', T .. ':open')) do
    if redis.call('HGET', batchKey(T, no), 'state') ~= 'importing' then redis.call('SADD', T .. ':unresumed', no) end
  end
end
