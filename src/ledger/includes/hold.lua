--[==[
  Holds, under read-back only. An order holds all of its members or none, without expiry.

    T:holders         member → the order that holds it, '<no>:<index>'
    B:holding         index → '<token> <member> …': what each order of the batch holds
    T:wait:<member>   the orders that wait for it, oldest first
    B:waiting         index → '<member it waits for> <member> …'; a list's entry that this does not confirm is stale
    T:expected        member → the balance that its last paid order left, with a blank and the currency behind it unless it is
                      the realm's own
    T:void            member → ms until which a request that nobody can speak for may still arrive
    T unheldAt        when an order was last begun without holding its members, by a batch of another certainty

  A member that somebody waits for is always held: a hand-over takes all the next order's members in the
  same script, so there is no moment in which a free member has a queue and nobody to wake it. An order
  holds while it is sent or unknown, and before that only while its batch is running.
  The token is new with every hold, and another one after every arming: a balance read under an earlier one
  proves nothing, also where the store has forgotten that the hold was given up in between.
  A void mark stays until the first hold that is taken after its time (see steppedUntil). So, while an order holds a member, a mark
  on it says that somebody else's request may have moved it since it was read: nothing read proves anything.
]==]
local function words(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do found[#found + 1] = word end
  return found
end

local function holdToken(T, no, index)
  local held = redis.call('HGET', T .. ':b:' .. no .. ':holding', index)
  return held and string.match(held, '%S+') .. '@' .. (redis.call('HGET', T, 'era') or '') or nil
end

local function firstHeld(T, members)
  for _, member in ipairs(members) do
    if redis.call('HEXISTS', T .. ':holders', member) == 1 then return member end
  end
  return nil
end

local function heldMembers(T, no, index)
  local held = words(redis.call('HGET', T .. ':b:' .. no .. ':holding', index) or '')
  table.remove(held, 1)
  return held
end

local function takeHolds(T, no, index, members)
  local token = tostring(redis.call('HINCRBY', T, 'holds', 1))
  local marks = redis.call('HMGET', T .. ':void', unpack(members))
  for i, member in ipairs(members) do
    redis.call('HSET', T .. ':holders', member, no .. ':' .. index)
    if marks[i] then redis.call('HDEL', T .. ':expected', member) end
    if marks[i] and math.max(tonumber(marks[i]), steppedUntil(T)) < nowMs() then redis.call('HDEL', T .. ':void', member) end
  end
  redis.call('HSET', T .. ':b:' .. no .. ':holding', index, token .. ' ' .. table.concat(members, ' '))
  return holdToken(T, no, index)
end

local function forgetExpected(T, no, index)
  for _, member in ipairs(heldMembers(T, no, index)) do redis.call('HDEL', T .. ':expected', member) end
end

local function voidMembers(T, members, untilMs)
  for _, member in ipairs(members) do
    local marked = tonumber(redis.call('HGET', T .. ':void', member) or '0')
    redis.call('HSET', T .. ':void', member, string.format('%.0f', math.max(marked, untilMs)))
  end
end

--- An order that becomes a doubt lets go of members which its request may still move.
local function voidHeld(T, no, index, now)
  voidMembers(T, heldMembers(T, no, index), now + settleMs(T))
end

--- Orders of other certainties hold nothing: while one of them may be moving members, no read proves anything.
local function isUnheldAround(T, sentMs)
  local at = redis.call('HGET', T, 'unheldAt')
  if not at then return false end
  local stepped = steppedUntil(T)
  return tonumber(at) + settleMs(T) >= sentMs or (stepped >= sentMs and stepped - settleMs(T) <= sentMs)
end

local function isVoid(T, no, index)
  local record = readRecord(T, no, index)
  if record and isUnheldAround(T, tonumber(decodeRecord(record).sent, 36) or 0) then return true end
  for _, member in ipairs(heldMembers(T, no, index)) do
    if redis.call('HEXISTS', T .. ':void', member) == 1 then return true end
  end
  return false
end

--- Waiting orders are not due: their turn comes with the hand-over.
local function waitFor(T, no, index, member, members)
  redis.call('RPUSH', T .. ':wait:' .. member, no .. ':' .. index)
  redis.call('HSET', T .. ':b:' .. no .. ':waiting', index, member .. ' ' .. table.concat(members, ' '))
  redis.call('ZREM', T .. ':b:' .. no .. ':due', index)
  batches.touch(no)
end

local function handOver(T, member, now, handed)
  while redis.call('HEXISTS', T .. ':holders', member) == 0 do
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
        batches.touch(no)
        handed[#handed + 1] = order
      end
    end
  end
end

--- Releases all that the order holds, then hands each member on. Returns the orders that go on with them.
local function releaseHolds(T, no, index, now)
  local members = heldMembers(T, no, index)
  if #members == 0 then return {} end
  for _, member in ipairs(members) do redis.call('HDEL', T .. ':holders', member) end
  redis.call('HDEL', T .. ':b:' .. no .. ':holding', index)
  local handed = {}
  for _, member in ipairs(members) do handOver(T, member, now, handed) end
  return handed
end

--- A batch that stops running lets go of every member it is not sending to, and of its places in the queues.
local function standStill(T, no, now)
  local B = T .. ':b:' .. no
  redis.call('HSET', B, 'stillAt', now)
  batches.touch(no)
  local waiting = redis.call('HKEYS', B .. ':waiting')
  redis.call('DEL', B .. ':waiting')
  for _, index in ipairs(waiting) do redis.call('ZADD', B .. ':due', now, index) end
  for _, index in ipairs(redis.call('HKEYS', B .. ':holding')) do
    local code = string.sub(readRecord(T, no, index) or 'w', 1, 1)
    if code ~= 's' and code ~= 'u' then releaseHolds(T, no, index, now) end
  end
end
