--[==[
  Takes the next planned orders of batches for dispatch: moves their cursors and notes each order as due. The
  jobs are added afterwards; should the feeder die in between, the sweeper finds orders that are due and
  have no job.

  KEYS[1] the realm
  ARGV[1] JSON list of batches, each [no, how many at most]  ARGV[2] how many of all of them at most (0: they only begin)
  ARGV[3] session that feeds ('' unless the batch is a run)
  ARGV[4] highest sequence seen  ARGV[5] era ('' before the first)  ARGV[6] session that asks
  ARGV[7] sequence of the last order that it began  ARGV[8], ARGV[9] limits of the sender's profile ('' for none, see gate)

  Returns for each batch the indexes to dispatch
]==]
--- @include "record"
--- @include "move"
--- @include "fence"
--- @include "hold"
--- @include "gate"
--- @include "sender-gate"
local T, asked, room, session = KEYS[1], cjson.decode(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local seen, era, sender, senderBegun, overTokens, overRows = ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local WAITING_MAX = 5000
--- Where batches only begin, those that have are not asked again before that time.
local BEGUN_MS = 1000
local now = nowMs()
local limits = limitsOf(overTokens, overRows)

--- A sender that a rollback shuts out begins nothing.
local function closed() return era ~= '' and fencedSender(T, seen, era, sender, senderBegun) end

local function gate(batch)
  if batch.begun then return senderGate.asksAgain(T, batch.no, limits, now) and refuse('approval') or nil end
  local why = judgeGate(T, batch.no, limits, now)
  return why and refuse(why) or nil
end

local ask = { T = T, closed = closed, feeds = true, states = { planned = true, running = true }, owners = { [session] = true },
  gate = gate }

--- How many orders of the batch may be fed now, of so many.
local function roomOf(no, B, batch, most)
  -- Orders that wait for a member are out of the window, but their list must not grow without end.
  local waiting = redis.call('HLEN', B .. ':waiting')
  if waiting >= WAITING_MAX then return 0 end
  -- Strictly one after the other: the next order is fed when the one before has come to its end.
  if batch.inOrder == '1' then
    if redis.call('ZCARD', B .. ':due') > 0 or waiting > 0 or countOf(T, no, 's') > 0 or countOf(T, no, 'u') > 0 then return 0 end
    most = math.min(most, 1)
  end
  return batch.limit and math.min(most, tonumber(batch.limit)) or most
end

local function take(no, B, batch, most)
  local cursor, last, high = tonumber(batch.cursor), tonumber(batch.rows), tonumber(batch.high or '0')
  local fed = {}
  -- A long stretch of rows that are no orders must not hold Redis up: at most this many are looked at.
  local lookEnd = math.min(last, cursor + 2000)
  while cursor <= lookEnd and #fed < most do
    local index = tostring(cursor)
    local record = readRecord(T, no, index)
    local open = not record
    -- Below the high mark orders were fed before: only what was taken back is fed again.
    if cursor < high and (open or string.sub(record, 1, 1) == 'w') then
      open = not redis.call('ZSCORE', B .. ':due', index) and redis.call('HEXISTS', B .. ':waiting', index) == 0
    end
    if open then
      fed[#fed + 1] = index
      redis.call('ZADD', B .. ':due', now, index)
    end
    cursor = cursor + 1
  end
  if cursor ~= tonumber(batch.cursor) then
    redis.call('HSET', B, 'cursor', cursor)
    batches.touch(no)
  end
  -- Lua writes minus nothing as '-0', which Redis does not take for a number.
  if batch.limit and #fed > 0 then redis.call('HINCRBY', B, 'limit', -#fed) end
  return fed
end

--- What is fed of the batch, and when the feeder looks at it again where others do not simply come first now.
local function feed(no, most)
  local B = batchKey(T, no)
  local state, owner, recovered, begun, cursor, rows, limit, inOrder, high =
    unpack(redis.call('HMGET', B, 'state', 'owner', 'recovered', 'begun', 'cursor', 'rows', 'limit', 'inOrder', 'high'), 1, 9)
  local batch = { no = no, state = state, owner = owner, recovered = recovered, begun = begun, cursor = cursor, rows = rows,
    limit = limit, inOrder = inOrder, high = high }
  local refused = whyNot(ask, batch, { code = 'w' })
  if refused then
    local _, why = unpack(refused)
    return {}, batches.looksAgainAt(T, no, why, now)
  end
  if not batch.begun then
    begin(T, no, now)
    batches.touch(no)
  end
  if state == 'planned' then
    redis.call('HSET', B, 'state', 'running')
    batches.touch(no)
  end
  local share = roomOf(no, B, batch, most)
  return share > 0 and take(no, B, batch, share) or {}
end

local fed, looks = {}, {}
local again = now + (room == 0 and BEGUN_MS or 0)
for i, one in ipairs(asked) do
  local share = math.ceil(room / (#asked - i + 1))
  local no, most = unpack(one)
  fed[i], looks[i] = feed(no, math.min(most, share))
  room = room - #fed[i]
end
batches.flush(T)
for i, one in ipairs(asked) do
  local no = unpack(one)
  batches.lookAt(T, no, looks[i] or again)
end
return fed
