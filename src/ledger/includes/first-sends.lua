--[==[
  After a rollback first sends wait for a person: the store has forgotten who paused or cancelled what meanwhile. Unknown
  orders go on being resolved, so that their keys do not age. Needs `record`; `waitForPerson` needs `hold`. Whether a batch is among them is asked in `may-send`.

    T 'forgot'       '1': the store was found to have forgotten something since the ledger was last opened
    T 'waitsSince'   when the ledger was opened after that; gone once a person has resumed
    T 'mustWait'     '1': a session that has merged since the ledger was closed wants it so; one that prefers to go on does not
                     overrule it
    T:unresumed      the batches that were open then, by number
]==]
--- Whether schedules wait.
local function waitsAtAll(T)
  return redis.call('HEXISTS', T, 'waitsSince') == 1
end

--- A person has said what becomes of the batch: its file was given again, or it is cancelled.
local function waitsNoLonger(T, no)
  if redis.call('SREM', T .. ':unresumed', no) == 1 then batches.touch(no) end
end

--- The ledger opens, after a rollback perhaps: everything that was to be sent then waits. What is sealed later does not.
local function waitForPerson(T, asked, now)
  local mustWait = redis.call('HDEL', T, 'mustWait') == 1 or asked ~= 'continue'
  if redis.call('HDEL', T, 'forgot') == 0 or not mustWait then return end
  redis.call('HSET', T, 'waitsSince', now)
  local waiting = {}
  for _, no in ipairs(redis.call('ZRANGE', T .. ':open', 0, -1)) do
    local state = redis.call('HGET', batchKey(T, no), 'state')
    if state ~= 'importing' and state ~= 'cancelled' then waiting[#waiting + 1] = no end
  end
  for _, no in ipairs(waiting) do redis.call('SADD', T .. ':unresumed', no) end
  -- As for a pause: other batches must not wait for members that its first sends hold.
  for _, no in ipairs(waiting) do standStill(T, no, now) end
end
