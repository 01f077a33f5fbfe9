--[==[
  A reference is the business key of an order in its realm. Its entry names the order that holds it:
  '<content digest>:<batch no>:<index>'. Whether it is spent follows from that order's state, so that a
  crash between an order's end and the release of its reference costs nothing.

    T:besides   the name of a reference → entries, with blanks between them, of orders that were paid, or may be, under it
                while another paid order holds it: paid in a past that the store has forgotten, or on their way when a
                journal brought that one back
]==]
local SPENDING = { p = true, s = true, u = true, D = true, P = true }

local function parseHolder(entry)
  local digest, no, index = string.match(entry, '^([^:]*):([^:]*):([^:]*)$')
  return digest, no, index
end

local function spends(T, record, cancelled)
  return SPENDING[stateOf(record, cancelled)] or mayArriveUntil(T, record)
end

--- The order that has the reference is over: one that stands beside it and may be paid keeps it spent.
local function spentBeside(T, shard, field, no, index)
  for entry in string.gmatch(redis.call('HGET', T .. ':besides', shard .. field) or '', '%S+') do
    local _, otherNo, otherIndex = parseHolder(entry)
    local state = redis.call('HGET', batchKey(T, otherNo), 'state')
    local isOther = state and (otherNo ~= no or otherIndex ~= index)
    if isOther and (state == 'archived' or spends(T, readRecord(T, otherNo, otherIndex), state == 'cancelled')) then return entry, state end
  end
  return nil
end

--- The entry that keeps the reference spent, its batch's state, and until when where that is known; or nil when
--- `no`/`index` may have it.
local function spentBy(T, shard, field, no, index)
  local entry = redis.call('HGET', T .. ':ref:' .. shard, field)
  if not entry then return nil end
  local _, holderNo, holderIndex = parseHolder(entry)
  if holderNo == no and holderIndex == index then return nil end
  local state, recovered, importer = unpack(redis.call('HMGET', batchKey(T, holderNo), 'state', 'recovered', 'importer'))
  if not state then return nil end
  if state == 'archived' then return entry, state end
  -- Of a recovered batch only an import holds more than the orders that are known.
  if recovered and redis.call('HEXISTS', batchKey(T, holderNo) .. ':rows', holderIndex) == 0 then
    if not importer then return nil end
    return entry, 'importing'
  end
  local record = readRecord(T, holderNo, holderIndex)
  if spends(T, record, state == 'cancelled') then return entry, state, mayArriveUntil(T, record) end
  return spentBeside(T, shard, field, no, index)
end

--- The same, but for an order of which nothing is applied: what was sent, or may have been, takes its reference over.
local function spentBySent(T, shard, field, no, index)
  local entry, state = spentBy(T, shard, field, no, index)
  if not entry or state == 'archived' then return entry end
  local _, holderNo, holderIndex = parseHolder(entry)
  local record = readRecord(T, holderNo, holderIndex)
  if state == 'importing' or not record then return nil end
  local isUnsent = string.sub(record, 1, 1) == 'w' and not mayArriveUntil(T, record)
  return not isUnsent and entry or nil
end

--- Of an archived order its batch knows whether it was paid; a journal may know more (see replay).
local function isPaidHolder(T, entry)
  local _, no, index = parseHolder(entry)
  local state, second = unpack(redis.call('HMGET', batchKey(T, no), 'state', 'second'))
  if state == 'archived' then
    local said = ' ' .. index .. ':[^ :]*:'
    if string.find(second or '', said .. 'A') then return true end
    return not string.find(second or '', said .. 'a') and redis.call('GETBIT', batchKey(T, no) .. ':unpaid', index) == 0
  end
  return string.sub(readRecord(T, no, index) or '', 1, 1) == 'P'
end

local function takeReference(T, shard, field, digest, no, index)
  redis.call('HSET', T .. ':ref:' .. shard, field, digest .. ':' .. no .. ':' .. index)
end

local function addBeside(T, shard, field, entry)
  local others = redis.call('HGET', T .. ':besides', shard .. field)
  if string.find(' ' .. (others or '') .. ' ', ' ' .. entry .. ' ', 1, true) then return end
  redis.call('HSET', T .. ':besides', shard .. field, others and others .. ' ' .. entry or entry)
end

--- A paid order takes its reference from whatever is not paid, which is not sent from then on. Another paid order keeps
--- it, and leaves it to this one when an undo frees it: answers whether that is so. An order that was sent and loses its
--- reference here may be paid as well: its entry is the second answer.
local function takeAsPaid(T, shard, field, digest, no, index)
  local holder = spentBySent(T, shard, field, no, index)
  if holder and isPaidHolder(T, holder) then
    addBeside(T, shard, field, digest .. ':' .. no .. ':' .. index)
    return true
  end
  if holder then addBeside(T, shard, field, holder) end
  takeReference(T, shard, field, digest, no, index)
  return false, holder
end

--- An order that may have been paid takes its reference from whatever was not sent, or stands beside the order that has it.
local function takeOrStandBeside(T, shard, field, digest, no, index)
  if spentBySent(T, shard, field, no, index) then
    addBeside(T, shard, field, digest .. ':' .. no .. ':' .. index)
  else
    takeReference(T, shard, field, digest, no, index)
  end
end

--- The order that keeps `no`/`index` from its reference, with its batch's state, or nil where the order holds it. A
--- reference that no order holds any more is taken.
local function otherHolder(T, shard, field, digest, no, index)
  local entry = redis.call('HGET', T .. ':ref:' .. shard, field)
  local _, holderNo, holderIndex = parseHolder(entry or '::')
  if holderNo == no and holderIndex == index then return nil end
  local holder, state = spentBy(T, shard, field, no, index)
  if holder then return holder, state end
  takeReference(T, shard, field, digest, no, index)
  return nil
end

--- Takes the next holder out of the entries: a paid order, else one that may be paid; nil where there is none.
local function takeNext(T, entries)
  local mayBePaid
  for at, entry in ipairs(entries) do
    if isPaidHolder(T, entry) then return table.remove(entries, at) end
    local _, no, index = parseHolder(entry)
    local record = readRecord(T, no, index)
    local state = redis.call('HGET', batchKey(T, no), 'state')
    local isOpen = state == 'archived' or (record and spends(T, record, state == 'cancelled'))
    if not mayBePaid and isOpen then mayBePaid = at end
  end
  return mayBePaid and table.remove(entries, mayBePaid)
end

local function releaseReference(T, shard, field, no, index)
  local entry = redis.call('HGET', T .. ':ref:' .. shard, field)
  if not entry then return end
  local _, holderNo, holderIndex = parseHolder(entry)
  local left = {}
  for other in string.gmatch(redis.call('HGET', T .. ':besides', shard .. field) or '', '%S+') do
    local _, otherNo, otherIndex = parseHolder(other)
    if otherNo ~= no or otherIndex ~= index then left[#left + 1] = other end
  end
  if holderNo == no and holderIndex == index then
    local next = takeNext(T, left)
    if next then redis.call('HSET', T .. ':ref:' .. shard, field, next) else redis.call('HDEL', T .. ':ref:' .. shard, field) end
    if not next then left = {} end
  end
  if #left > 0 then
    redis.call('HSET', T .. ':besides', shard .. field, table.concat(left, ' '))
  else
    redis.call('HDEL', T .. ':besides', shard .. field)
  end
end

--- Binary names of references travel as hex inside JSON.
local function unhex(hex)
  return (string.gsub(hex, '..', function(pair) return string.char(tonumber(pair, 16)) end))
end
