--[==[
  The orders of one debt, where journals brought some of them back: an order, the rows that stand in for it one after the
  other, the row that was left out as its duplicate, and orders under one reference. One past sends one of them at a time, and
  each of them may be of another past. None is sent while another may have been paid; where two were paid, it is said.

    T:debts   'o<member>' → the number of its debt; 'd<number>' → its members, with blanks between them. A member is the id of
              an order, or '@<no>:<index>' of a payment that no order tells of
    T 'debts' the last number
    T:undone  ids of paid orders that a paid undo took back
    T:undoes  id of an order that is not known as paid → JSON of what its undo frees once it is (see takeBack): the undo was paid,
              and so the order was paid before
]==]
local MAY_BE_PAID = { s = true, u = true, D = true, P = true }
local WAITS_OR_MAY_BE_PAID = { p = true, s = true, u = true, D = true, P = true }

local function membersOf(T, number)
  local members = {}
  for member in string.gmatch(redis.call('HGET', T .. ':debts', 'd' .. number) or '', '%S+') do members[#members + 1] = member end
  return members
end

local function joinDebt(T, one, other)
  if one == other then return end
  local debts = T .. ':debts'
  local number, otherNumber = redis.call('HGET', debts, 'o' .. one), redis.call('HGET', debts, 'o' .. other)
  if number and number == otherNumber then return end
  local members = number and membersOf(T, number) or { one }
  for _, member in ipairs(otherNumber and membersOf(T, otherNumber) or { other }) do members[#members + 1] = member end
  if otherNumber then redis.call('HDEL', debts, 'd' .. otherNumber) end
  number = number or redis.call('HINCRBY', T, 'debts', 1)
  for _, member in ipairs(members) do redis.call('HSET', debts, 'o' .. member, number) end
  redis.call('HSET', debts, 'd' .. number, table.concat(members, ' '))
end

local function leaveDebt(T, member)
  local number = redis.call('HGET', T .. ':debts', 'o' .. member)
  if not number then return end
  redis.call('HDEL', T .. ':debts', 'o' .. member)
  local left = {}
  for _, one in ipairs(membersOf(T, number)) do
    if one ~= member then left[#left + 1] = one end
  end
  redis.call('HSET', T .. ':debts', 'd' .. number, table.concat(left, ' '))
end

--- Number and index of the order with this id, where the store has its batch.
local function placeOf(T, order)
  local batch, at = string.match(type(order) == 'string' and order or '', '^(.*)%-(%d+)$')
  return batch and redis.call('HGET', T .. ':batches', batch), at
end

--- The member that a place is: what no batch in the list has is told by its place.
local function memberAt(T, no, index)
  if not string.find(no, '^%d+$') then return '@' .. no .. ':' .. index end
  local id = redis.call('HGET', batchKey(T, no), 'id')
  return id and id .. '-' .. index
end

--- The state of a member; nil where the store has none.
local function memberState(T, member)
  local no, index = string.match(member, '^@([^:]+):(%d+)$')
  if not no then no, index = placeOf(T, member) end
  if not no or redis.call('SISMEMBER', T .. ':undone', member) == 1 then return nil end
  local state, second, recovered, rows = unpack(redis.call('HMGET', batchKey(T, no), 'state', 'second', 'recovered', 'rows'), 1, 4)
  if state == 'archived' then
    local isNoted = string.find(second or '', ' ' .. index .. ':', 1, true)
    local isUnknown = string.sub(no, 1, 1) == 'm' or (rows and tonumber(index) > tonumber(rows))
    local isUnpaid = isUnknown or redis.call('GETBIT', batchKey(T, no) .. ':unpaid', index) == 1
    if isUnpaid and not isNoted then return nil end
    return isPaidHolder(T, ':' .. no .. ':' .. index) and 'P' or 'D'
  end
  if not state or state == 'importing' or (recovered and redis.call('HEXISTS', batchKey(T, no) .. ':rows', index) == 0) then return nil end
  local record = readRecord(T, no, index)
  if mayArriveUntil(T, record) then return 'D' end
  return stateOf(record, state == 'cancelled')
end

--- Another member of the debt in one of these states, and not of the batch with this id; or nil.
local function otherOfDebt(T, self, states, batch)
  local number = redis.call('HGET', T .. ':debts', 'o' .. self)
  for _, member in ipairs(number and membersOf(T, number) or {}) do
    local isOther = member ~= self and string.match(member, '^(.*)%-%d+$') ~= (batch or '')
    if isOther and states[memberState(T, member) or ''] then return member end
  end
  return nil
end

--- Takes the reference for a paid order (see takeAsPaid). An order that was sent and loses it is of the same debt.
local function takeForDebt(T, ref, no, index)
  local isBeside, loser = takeAsPaid(T, ref.shard, ref.field, ref.digest, no, index)
  local _, loserNo, loserIndex = parseHolder(loser or '::')
  local member = loser and memberAt(T, loserNo, loserIndex)
  if member then joinDebt(T, memberAt(T, no, index), member) end
  return isBeside
end

local PAID = { P = true }
--- Of an order that was paid: said, where another one was paid for the same debt.
local function sayIfPaidTwice(T, no, index, attempt)
  local other = otherOfDebt(T, memberAt(T, no, index) or '', PAID)
  if other then sayBeside(T, no, index, attempt, (string.find(other, '^@') and 'another payment was made' or 'order ' .. other .. ' was paid') .. ' for the same debt') end
end

--- Puts the rows that stand in for this order, one after the other, into its debt.
local function joinStandIns(T, order)
  local seen, next = { [order] = true }, { order }
  for _, one in ipairs(next) do
    local no, index = placeOf(T, one)
    local function add(byNo, row)
      local member = byNo and memberAt(T, byNo, row)
      if not member or seen[member] then return end
      seen[member] = true
      joinDebt(T, order, member)
      next[#next + 1] = member
    end
    if no then
      add(string.match(decodeRecord(readRecord(T, no, index) or '').marks or '', 'r(%d+)%.(%d+)'))
      add(string.match(redis.call('HGET', batchKey(T, no) .. ':replaced', index) or '', '^(%d+):(%d+)$'))
    end
  end
end

--- What was said of an undone order, and of one that was paid beside it and alone since, does not hold any more.
local function unsayUndone(T, member)
  local number = redis.call('HGET', T .. ':debts', 'o' .. member)
  for _, one in ipairs(number and membersOf(T, number) or {}) do
    local no, index = placeOf(T, one)
    local isUndone = redis.call('SISMEMBER', T .. ':undone', one) == 1
    if no and (isUndone or not otherOfDebt(T, one, PAID)) then unsayBeside(T, no, index) end
  end
end

--- The order gives back its reference, and what it held of its rule's account. One that was paid twice, or may have been,
--- keeps both: what was taken back is one payment of two.
local function freeUndone(T, no, index, freed)
  local second = redis.call('HGET', batchKey(T, no), 'second') or ''
  if string.find(second, ' ' .. index .. ':[^ :]*:[^B]') then return end
  -- Two pasts may each have an undo of it: it frees once.
  local member = memberAt(T, no, index)
  if redis.call('SADD', T .. ':undone', member) == 0 then return end
  releaseReference(T, freed.shard, unhex(freed.field), no, index)
  unsayUndone(T, member)
  if freed.account ~= '' then bump(T .. ':held', freed.account, '-' .. freed.tokens) end
end

--- An undo was paid: {shard, field hex, no or '@' and the batch's id, index, account or ''} of the order that it undoes. Where
--- that is not known as paid, it came back before its order.
local function takeBack(T, undoes, tokens)
  if type(undoes) ~= 'table' then return end
  local shard, field, no, index, account = unpack(undoes, 1, 5)
  local id = string.match(no, '^@(.+)$')
  if id then no = redis.call('HGET', T .. ':batches', id) end
  local member = no and memberAt(T, no, index) or id and id .. '-' .. index
  if not member then return end
  local freed = { shard = shard, field = field, account = account or '', tokens = tokens }
  if no and isPaidHolder(T, ':' .. no .. ':' .. index) then
    freeUndone(T, no, index, freed)
  else
    redis.call('HSET', T .. ':undoes', member, cjson.encode(freed))
  end
end

--- An order was paid: whether its undo was paid before.
local function isTakenBack(T, no, index)
  local member = memberAt(T, no, index)
  local freed = member and redis.call('HGET', T .. ':undoes', member)
  if not freed then return false end
  redis.call('HDEL', T .. ':undoes', member)
  freeUndone(T, no, index, cjson.decode(freed))
  return true
end
