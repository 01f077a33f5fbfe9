--[[
  Holds, under read-back only. An order holds all of its members or none, without expiry.

    T:hold:<member>   the order that holds it, '<no>:<index>'
    B:holding         index → '<token> <member> …': what each order of the batch holds
    T:wait:<member>   the orders that wait for it, oldest first
    B:waiting         index → '<member it waits for> <member> …'; a list's entry that this does not confirm is stale

  A member that somebody waits for is always held: a hand-over takes all the next order's members in the
  same script, so there is no moment in which a free member has a queue and nobody to wake it. An order
  holds while it is sent or unknown, and before that only while its batch is running.
  The token is new with every hold, and another one after every arming: a balance read under an earlier one
  proves nothing, also where the store has forgotten that the hold was given up in between.
]]
local function words(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do found[#found + 1] = word end
  return found
end

local function holdToken(T, no, index)
  local held = redis.call('HGET', T .. ':b:' .. no .. ':holding', index)
  return held and words(held)[1] .. '@' .. (redis.call('HGET', T, 'era') or '') or nil
end

local function firstHeld(T, members)
  for _, member in ipairs(members) do
    if redis.call('EXISTS', T .. ':hold:' .. member) == 1 then return member end
  end
  return nil
end

local function takeHolds(T, no, index, members)
  local token = tostring(redis.call('HINCRBY', T, 'holds', 1))
  for _, member in ipairs(members) do
    redis.call('SET', T .. ':hold:' .. member, no .. ':' .. index)
  end
  redis.call('HSET', T .. ':b:' .. no .. ':holding', index, token .. ' ' .. table.concat(members, ' '))
  return holdToken(T, no, index)
end

--- What read-back expects of the members it holds: T:expected, member → balance, or '?' after a merged journal.
local function forgetExpected(T, no, index)
  local members = words(redis.call('HGET', T .. ':b:' .. no .. ':holding', index) or '')
  for i = 2, #members do redis.call('HDEL', T .. ':expected', members[i]) end
end

--- Waiting orders are not due: their turn comes with the hand-over.
local function waitFor(T, no, index, member, members)
  redis.call('RPUSH', T .. ':wait:' .. member, no .. ':' .. index)
  redis.call('HSET', T .. ':b:' .. no .. ':waiting', index, member .. ' ' .. table.concat(members, ' '))
  redis.call('ZREM', T .. ':b:' .. no .. ':due', index)
end

local function handOver(T, member, now, handed)
  while redis.call('EXISTS', T .. ':hold:' .. member) == 0 do
    local order = redis.call('LPOP', T .. ':wait:' .. member)
    if not order then return end
    local no, index = string.match(order, '^(%d+):(%d+)$')
    local B = T .. ':b:' .. no
    local members = words(redis.call('HGET', B .. ':waiting', index) or '')
    if table.remove(members, 1) == member then
      local other = firstHeld(T, members)
      if other then
        waitFor(T, no, index, other, members)
      else
        redis.call('HDEL', B .. ':waiting', index)
        takeHolds(T, no, index, members)
        redis.call('ZADD', B .. ':due', now, index)
        handed[#handed + 1] = order
      end
    end
  end
end

--- Releases all that the order holds, then hands each member on. Returns the orders that go on with them.
local function releaseHolds(T, no, index, now)
  local holding = T .. ':b:' .. no .. ':holding'
  local held = redis.call('HGET', holding, index)
  if not held then return {} end
  local members = words(held)
  table.remove(members, 1)
  for _, member in ipairs(members) do redis.call('DEL', T .. ':hold:' .. member) end
  redis.call('HDEL', holding, index)
  local handed = {}
  for _, member in ipairs(members) do handOver(T, member, now, handed) end
  return handed
end

--- A batch that stops running lets go of every member it is not sending to, and of its places in the queues.
local function standStill(T, no, now)
  local B = T .. ':b:' .. no
  local waiting = redis.call('HKEYS', B .. ':waiting')
  redis.call('DEL', B .. ':waiting')
  for _, index in ipairs(waiting) do redis.call('ZADD', B .. ':due', now, index) end
  for _, index in ipairs(redis.call('HKEYS', B .. ':holding')) do
    local code = string.sub(readRecord(T, no, index) or 'w', 1, 1)
    if code ~= 's' and code ~= 'u' then releaseHolds(T, no, index, now) end
  end
end
