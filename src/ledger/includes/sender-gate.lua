--[==[
  Whether an order may leave for the first time: by the limits of the sender's profile, and by what the person who pays it
  alone has paid within the last 24 hours. A batch begins where a feeder takes it; what was fed then may leave days later, or be
  sent by another process with other limits. Needs `record` and `hold`. (One name, because a script may have no more than 200.)
]==]

local senderGate = {}
do
--- @include "gate"
  senderGate.limitsOf = limitsOf
  local LOOK_AGAIN_MS = 30000

  --- Undispatches every order of the batch that is not being sent or unknown; returns how many, the lowest and the highest index.
  function senderGate.undispatchAll(T, no)
    local count, lowest, highest = 0, nil, 0
    for _, index in ipairs(redis.call('ZRANGE', batchKey(T, no) .. ':due', 0, -1)) do
      if string.sub(readRecord(T, no, index) or 'w', 1, 1) == 'w' then
        undispatch(T, no, index)
        count, lowest, highest = count + 1, math.min(lowest or tonumber(index), tonumber(index)), math.max(highest, tonumber(index))
      end
    end
    return count, lowest, highest
  end

  --- Takes back what was dispatched of a batch. It is fed again when the batch goes on.
  function senderGate.takeBack(T, no, now)
    local B = batchKey(T, no)
    standStill(T, no, now)
    local count, lowest, highest = senderGate.undispatchAll(T, no)
    if count == 0 then return end
    local cursor, high, limit = unpack(redis.call('HMGET', B, 'cursor', 'high', 'limit'))
    cursor = tonumber(cursor)
    redis.call('HSET', B, 'cursor', math.min(cursor, lowest), 'high', math.max(cursor, tonumber(high or '0'), highest + 1))
    if limit then redis.call('HINCRBY', B, 'limit', count) end
    batches.touch(no)
  end

  --- Of a recovered batch nothing is fed, so what was retried of it stays due for later.
  local function putOff(T, no, index, now)
    if redis.call('HEXISTS', batchKey(T, no), 'recovered') == 0 then return senderGate.takeBack(T, no, now) end
    redis.call('ZADD', batchKey(T, no) .. ':due', 'XX', string.format('%.0f', now + LOOK_AGAIN_MS), index)
    releaseHolds(T, no, index, now)
  end

  --- The batch waits for an approval, and is the workers' from here on: a run of it ends.
  local function close(T, no, index, who, now)
    local B = batchKey(T, no)
    redis.call('HDEL', B, 'begun', 'cleared')
    redis.call('HSET', B, 'owner', '', 'handedAt', now)
    askApproval(T, no, who or redis.call('HGET', B, 'preparer') or '', now)
    judgeGate(T, no, {}, now)
    putOff(T, no, index, now)
  end

  --- Counts an order for a person where it leaves, and nowhere else; false where that is more than they may pay alone.
  local function countLeaving(T, no, index, who, tokens, limits, now)
    local marks = batchKey(T, no) .. ':alone'
    local wasAt, wasOf = string.match(redis.call('HGET', marks, index) or '', '^(%d+) (%S+)$')
    if wasAt then bumpLeft(T, wasOf, wasAt, -1, -tokens) end
    local rows, sum = leftSince(T, who, now - DAY_MS, now)
    local fits = isWithin(limits, rows + 1, sum + tokens)
    if fits then
      wasAt, wasOf = string.format('%.0f', math.floor(now / SLICE_MS)), who
      redis.call('HSET', marks, index, wasAt .. ' ' .. wasOf)
    end
    if wasAt then bumpLeft(T, wasOf, wasAt, 1, tokens) end
    return fits
  end

  --- A batch that began a day ago or longer, or without its person having been judged, is judged as a whole again: it waits before more
  --- of it is sent. Where dead letters were retried, each order is counted as it leaves.
  function senderGate.asksAgain(T, no, limits, now)
    if not isRequired(limits) then return false end
    local B = batchKey(T, no)
    if redis.call('HEXISTS', B, 'cleared') == 1 or redis.call('HLEN', B .. ':retriedBy') > 0 then return false end
    local who = payerOf(T, no)
    local at = who and redis.call('ZSCORE', aloneKey(T, who), no)
    if at and now - tonumber(at) < DAY_MS then return false end
    if who and mayPayAlone(T, who, no, counter(B .. ':n', 'c:p'), counter(B .. ':n', 't:p'), now, limits) then
      keepFor(T, who, no, now)
      return false
    end
    close(T, no, '', who, now)
    return true
  end

  --- Whether an order that was never sent, or is sent again by a person's word, may leave now.
  function senderGate.mayLeave(T, no, index, tokens, limits, now)
    if not isRequired(limits) then return true end
    local B = batchKey(T, no)
    local begun, recovered = unpack(redis.call('HMGET', B, 'begun', 'recovered'))
    if not begun and (not recovered or readRequest(T, 'batch', no)) then
      if judgeGate(T, no, limits, now) then
        putOff(T, no, index, now)
        return false
      end
      begin(T, no, now)
      batches.touch(no)
    end
    if senderGate.asksAgain(T, no, limits, now) then return false end
    local cleared = redis.call('HGET', B, 'cleared')
    local retried = redis.call('HGET', B .. ':retriedBy', index)
    -- Of a recovered batch only what a person put back to work may leave.
    if retried == '-' or (cleared and not retried and not recovered) then return true end
    -- A retry by a person whom no token names counts for the person who prepared the order.
    local who = retried and string.match(retried, '^%d+ (.+)$') or payerOf(T, no)
    if who and countLeaving(T, no, index, who, tonumber(tokens), limits, now) then return true end
    close(T, no, index, who, now)
    return false
  end
end
