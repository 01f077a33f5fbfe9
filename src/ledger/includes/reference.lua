--[==[
  A reference is the business key of an order in its realm. Its entry names the order that holds it:
  '<content digest>:<batch no>:<index>'. Whether it is spent follows from that order's state, so that a
  crash between an order's end and the release of its reference costs nothing.
]==]
local SPENDING = { p = true, s = true, u = true, D = true, P = true }

local function parseHolder(entry)
  local digest, no, index = string.match(entry, '^([^:]*):([^:]*):([^:]*)$')
  return digest, no, index
end

local function spends(T, record, cancelled)
  return SPENDING[stateOf(record, cancelled)] or mayArriveUntil(T, record)
end

--- The entry that keeps the reference spent, its batch's state, and until when where that is known; or nil when
--- `no`/`index` may have it.
local function spentBy(T, shard, field, no, index)
  local entry = redis.call('HGET', T .. ':ref:' .. shard, field)
  if not entry then return nil end
  local _, holderNo, holderIndex = parseHolder(entry)
  if holderNo == no and holderIndex == index then return nil end
  local state = redis.call('HGET', batchKey(T, holderNo), 'state')
  if not state then return nil end
  if state == 'archived' then return entry, state end
  local record = readRecord(T, holderNo, holderIndex)
  if spends(T, record, state == 'cancelled') then return entry, state, mayArriveUntil(T, record) end
  return nil
end

local function takeReference(T, shard, field, digest, no, index)
  redis.call('HSET', T .. ':ref:' .. shard, field, digest .. ':' .. no .. ':' .. index)
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

local function releaseReference(T, shard, field, no, index)
  local entry = redis.call('HGET', T .. ':ref:' .. shard, field)
  if not entry then return end
  local _, holderNo, holderIndex = parseHolder(entry)
  if holderNo == no and holderIndex == index then redis.call('HDEL', T .. ':ref:' .. shard, field) end
end

--- Binary names of references travel as hex inside JSON.
local function unhex(hex)
  return (string.gsub(hex, '..', function(pair) return string.char(tonumber(pair, 16)) end))
end

--- A paid undo gives back the reference of the order it undid, and what it held of its rule's account: {shard, field
--- hex, no, index, account or ''}. An order that was paid twice, or may have been, keeps both: what was taken back is
--- one payment of two.
local function freeUndone(T, undoes, tokens)
  if type(undoes) ~= 'table' then return end
  local second = redis.call('HGET', batchKey(T, undoes[3]), 'second') or ''
  if string.find(second, ' ' .. undoes[4] .. ':', 1, true) then return end
  releaseReference(T, undoes[1], unhex(undoes[2]), undoes[3], undoes[4])
  if (undoes[5] or '') ~= '' then bump(T .. ':held', undoes[5], '-' .. tokens) end
end
