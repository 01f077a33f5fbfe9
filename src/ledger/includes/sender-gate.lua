--[==[
  Whether a sender may send of a batch for the first time: by the limits of its own profile, at this moment. A batch begins
  where a feeder takes it; what was fed then may leave days later, or be sent by another process with other limits.
  Needs `record` and `hold`. (One name, because a script may have no more than 200.)
]==]

local senderGate = {}
do
--- @include "gate"
  senderGate.limitsOf = limitsOf

  --- Undispatches every order of the batch that is not being sent or unknown; returns how many, and the lowest index.
  function senderGate.undispatchAll(T, no)
    local count, lowest = 0, nil
    for _, index in ipairs(redis.call('ZRANGE', batchKey(T, no) .. ':due', 0, -1)) do
      if string.sub(readRecord(T, no, index) or 'w', 1, 1) == 'w' then
        undispatch(T, no, index)
        count, lowest = count + 1, math.min(lowest or tonumber(index), tonumber(index))
      end
    end
    return count, lowest
  end

  --- Takes back what was dispatched of a batch. It is fed again when the batch goes on.
  function senderGate.takeBack(T, no, now)
    local B = batchKey(T, no)
    standStill(T, no, now)
    local count, lowest = senderGate.undispatchAll(T, no)
    if count == 0 then return end
    local meta = redis.call('HMGET', B, 'cursor', 'high', 'limit')
    local cursor = tonumber(meta[1])
    redis.call('HSET', B, 'cursor', math.min(cursor, lowest), 'high', math.max(cursor, tonumber(meta[2] or '0')))
    if meta[3] then redis.call('HINCRBY', B, 'limit', count) end
    batches.touch(no)
  end

  --- What one person pays alone is judged again where it was judged by laxer limits, or more than 24 hours ago.
  function senderGate.isClosedFor(T, no, limits, now)
    if not isRequired(limits) then return false end
    local B = batchKey(T, no)
    local b = redis.call('HMGET', B, 'begun', 'cleared', 'judged', 'preparer', 'id', 'recovered')
    -- Of a recovered batch nothing is sent but what a person retries, which is judged there.
    if b[6] or b[2] == 'approved' or b[2] == 'rule' or (b[1] and b[2] == 'rest') then return false end
    if b[1] and isCovered(b[3], limits) and (b[2] ~= 'alone' or isCountedNow(T, b[4], b[5], now)) then return false end
    if b[1] then redis.call('HDEL', B, 'begun', 'cleared') end
    if not judgeGate(T, no, limits, now) then
      begin(T, no, now)
      return false
    end
    senderGate.takeBack(T, no, now)
    return true
  end
end
