--[[
  The fence. A Redis that was restarted, failed over or restored may have forgotten what it acknowledged;
  its run_id is then another one than the armed one, and nothing is sent until the journals are merged.

    T armed    run_id of the server for which the journals were merged
    T era      new with every arming: a sender that was not there when it happened merges its journal first
    T seq      grows with every move: lower than a sender has seen, and the store has forgotten something
    T:merged   session → run_id for which it has merged its journal; gone once armed

  A ledger in which nothing ever moved and that was never armed has nothing to forget: it arms itself, unless
  the caller knows better (a crew merges the journals that lie around first).
]]
local function serverRun()
  local info = redis.pcall('INFO', 'server')
  -- A managed Redis may deny INFO; the operator has attested then that it does not forget.
  if type(info) == 'table' then return 'unproven' end
  return string.match(info, 'run_id:(%w+)') or 'unproven'
end

--- Why nothing may be sent, or nil. Empty `era`: the caller has not seen one yet.
local function fenced(T, seen, era)
  local state = redis.call('HMGET', T, 'armed', 'seq', 'era')
  if tonumber(state[2] or '0') < tonumber(seen) then return 'rollback' end
  local run = serverRun()
  if not state[1] and not state[2] and era == '' then
    redis.call('HSET', T, 'armed', run, 'era', 'first')
    return nil
  end
  if state[1] ~= run then return 'disarmed' end
  if era ~= '' and era ~= state[3] then return 'era' end
  return nil
end
