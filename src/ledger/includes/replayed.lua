--[==[
  (After debt.) Payments that a journal put back. An order that was there before may be made for the same debt: in the past that the store
  has forgotten, it may have been cancelled, or called unpaid, and paid in another file. For each of these payments the first
  equal order of every batch that comes to be sent is held for a person (see begin-sending). What was sealed since was compared by its plan.

    T:replayed   '<no>:<index>' of an order, with ':<nonce>' for a payment without one → '<number of seals> <content> <origin>
                 <1: it has a reference> <id of the batch whose orders are others for sure>', '-' for none (see sketch.ts);
                 behind it the numbers of the batches of which an order was held for it
    T:alike      content, or 'o' and the origin → such places, with blanks between them
    T:heldFor    the id of an order that was held → the place of the payment, until a person retries it
    T:cleared    the id of an order → such places for which a person had it retried; 'undo' for its undo, which was paid (see debt)
  They are kept: an order may be opened again years later. There are as many as journals put back.
]==]
local function noteReplayed(T, place, debt)
  local seal = redis.call('HINCRBY', T, 'seals', 1)
  local facts = table.concat({ seal, debt.content, type(debt.origin) == 'string' and debt.origin or '-',
    debt.hasReference and 1 or 0, type(debt.notOf) == 'string' and debt.notOf or '-' }, ' ')
  if string.find(redis.call('HGET', T .. ':replayed', place) or '', '^%d+ %S+ %S+ %d %S+ ') then return end
  redis.call('HSET', T .. ':replayed', place, facts)
  local function add(key)
    local others = redis.call('HGET', T .. ':alike', key)
    if string.find(' ' .. (others or '') .. ' ', ' ' .. place .. ' ', 1, true) then return end
    redis.call('HSET', T .. ':alike', key, others and others .. ' ' .. place or place)
  end
  add(debt.content)
  if type(debt.origin) == 'string' then add('o' .. debt.origin) end
end

--- Whether it is paid, may be, or is sent again by itself.
local function stillCounts(T, place)
  local member = memberAt(T, string.match(place, '^([^:]+):(%d+)'))
  return WAITS_OR_MAY_BE_PAID[member and memberState(T, member) or '']
end

--- Whether a person has it sent although that was paid.
local function isCleared(T, order, what)
  local cleared = redis.call('HGET', T .. ':cleared', order)
  return cleared and string.find(' ' .. cleared .. ' ', ' ' .. what .. ' ', 1, true)
end

--- The place of the payment for which the order was held, where that still counts; or nil.
local function heldFor(T, order)
  local place = redis.call('HGET', T .. ':heldFor', order)
  return place and stillCounts(T, place) and place
end

--- Number and index of a payment that the order may be the same as, and that no other order of its batch was held for; or nil.
--- From then on the order is held for it.
local function meetReplayed(T, no, index, content, origin, hasReference)
  local id, ownSeal, recovered = unpack(redis.call('HMGET', batchKey(T, no), 'id', 'seal', 'recovered'))
  local order = id .. '-' .. index
  -- An order that a journal put back itself was in no plan that was compared since.
  local isPutBack = recovered or redis.call('HEXISTS', T .. ':replayed', no .. ':' .. index) == 1
  local sealed = isPutBack and 0 or tonumber(ownSeal or '0')
  local function find(key)
    for place in string.gmatch(redis.call('HGET', T .. ':alike', key) or '', '%S+') do
      local seal, same, _, referenced, notOf, met = string.match(redis.call('HGET', T .. ':replayed', place) or '',
        '^(%d+) (%S+) (%S+) (%d) (%S+)(.*)$')
      local isMet = seal and string.find(met .. ' ', ' ' .. no .. ' ', 1, true)
      local isOther = seal and not isMet and string.match(place, '^[^:]+') ~= no and notOf ~= id and not (hasReference and referenced == '1')
      local isAsked = isOther and tonumber(seal) > sealed and not isCleared(T, order, place)
      if isAsked and stillCounts(T, place) then return place, same == content and not hasReference and referenced == '0' end
    end
  end
  local place = heldFor(T, order)
  if not place then
    local isExact
    place, isExact = find(content)
    if not place and origin ~= '' then place = find('o' .. origin) end
    if not place then return nil end
    -- An unknown one may have been paid itself, and one that is not quite equal may be another: the payment may be that of an
    -- order which waits.
    local isSent = string.sub(readRecord(T, no, index) or '', 1, 1) == 'u'
    if isExact and not isSent then
      redis.call('HSET', T .. ':replayed', place, redis.call('HGET', T .. ':replayed', place) .. ' ' .. no)
    end
    redis.call('HSET', T .. ':heldFor', order, place)
  end
  return string.match(place, '^([^:]+):(%d+)')
end

--- A person has it sent all the same: it is not held for that payment again.
local function clearHeld(T, order)
  local cleared = { redis.call('HGET', T .. ':cleared', order) or nil }
  cleared[#cleared + 1] = redis.call('HGET', T .. ':heldFor', order) or nil
  if redis.call('HEXISTS', T .. ':undoes', order) == 1 then cleared[#cleared + 1] = 'undo' end
  if #cleared == 0 then return end
  redis.call('HDEL', T .. ':heldFor', order)
  redis.call('HSET', T .. ':cleared', order, table.concat(cleared, ' '))
end
