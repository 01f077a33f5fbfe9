--[==[
  The fence. A Redis that was restarted, failed over or restored may have forgotten what it acknowledged;
  its run_id is then another one than the armed one, and nothing is sent until the journals are merged.

    T armed    run_id of the server for which the journals were merged
    T era      new with every arming: a sender that was not there when it happened merges its journal first
    T seq      grows with every move: lower than a sender has seen, and the store has forgotten something
    T restored '1': a backup was put back, and the ledger was not opened since
    T found    the sequence at which a store that is not armed was found, before anything was put back; gone once armed
    T missed   what no journal tells any more, as era → sequence: nobody arms until a person has accepted it
    T folder   identity of the data folder that the store lies in, where it lies in one. In a copy or a restored backup
               the folder has another one, and a person has to decide
    T:merged   session → run_id for which it has merged its journal; gone once armed
    T:eras     every arming: '<era> <sequence found then>'. A sequence found lower than a moment of an earlier era
               is a store that forgot that moment, however far it has come since
    T:lostEras armings that a session knows and the store has forgotten since it was last armed
    T:joined   session → '<run_id> <era>' since which the store has forgotten nothing of what it did
    T:begun    session → sequence of the last order it began, '0' before the first. Only the session itself moves it on:
               lower than the session knows, or gone, and the store has forgotten what it did, however far others
               have moved the sequence since
    T:lost     session → who gave it up, and when: it never begins anything again

  A ledger in which nothing ever moved and that was never armed has nothing to forget: it arms itself, unless
  the caller knows better (a worker merges the journals that lie around first).
]==]
--- @include "format"
--- Whether the store is still the one of which something was concluded: '<run_id> <sequence then> <era, or nothing
--- where it was not armed>'. One that took its place, or went back meanwhile, may remember less. Empty: any will do.
local function isSameStore(T, seen)
  if not seen or seen == '' then return true end
  local run, seq, era = string.match(seen, '^(%S+) (%d+) ?(%S*)$')
  local armed, seqNow, eraNow = unpack(redis.call('HMGET', T, 'armed', 'seq', 'era'))
  if not run or serverRun() ~= run or tonumber(seqNow or '0') < tonumber(seq) then return false end
  if era == '' then return armed ~= run end
  return armed == run and eraNow == era
end

--- Whether payments may be forgotten that a journal knows: nothing that is judged by this ledger may become payable.
local function isUnmerged(T)
  local armed, seq = unpack(redis.call('HMGET', T, 'armed', 'seq'))
  return (armed or seq) and armed ~= serverRun()
end

--- Whether the store knows of the arming with which this epoch began.
local function isEra(T, era)
  for _, arming in ipairs(redis.call('LRANGE', T .. ':eras', 0, -1)) do
    if string.match(arming, '^%S+') == era then return true end
  end
  return false
end

--- Whether the store has forgotten that the session is registered, or something that it began.
local function forgetsSession(T, session, begun)
  local known = redis.call('HGET', T .. ':begun', session)
  return not known or tonumber(known) < tonumber(begun)
end

--- Why this store may not be worked on as it stands, or nil. Empty `era`: the caller has not seen one yet.
local function fenced(T, seen, era)
  local armed, seq, eraNow = unpack(redis.call('HMGET', T, 'armed', 'seq', 'era'))
  if tonumber(seq or '0') < tonumber(seen) then return 'rollback' end
  local run = serverRun()
  if not armed and not seq and era == '' then
    -- Another one for every ledger that begins: an emptied store is not the one of before.
    local first = 'first' .. table.concat(redis.call('TIME'), '.')
    redis.call('HSET', T, 'armed', run, 'era', first)
    redis.call('RPUSH', T .. ':eras', first .. ' 0')
    return nil
  end
  if armed ~= run then return 'disarmed' end
  if era ~= '' and era ~= eraNow then return 'era' end
  return nil
end

--- Why nothing may be sent by the session, or nil.
local function fencedSender(T, seen, era, session, begun)
  if otherFormat(T) then return 'format' end
  if redis.call('HEXISTS', T .. ':lost', session) == 1 then return 'lost' end
  local closed = fenced(T, seen, era)
  if closed then return closed end
  return forgetsSession(T, session, begun) and 'rollback' or nil
end
