--[==[
  The breakers. Refusals of one class in a row speak of this file or of a wrong address: the batch is halted.
  Unknowns with no definite answer between them speak of the realm: nothing is sent until a probe is answered.

    B refusals, refusalClass   how many in a row, and of which class
    T unknowns, breaker        how many in a row, and since when the breaker is open
]==]
local unknownsForgotten = false
local refusalsForgotten = {}

local function forgetUnknowns(T)
  if not unknownsForgotten then redis.call('HDEL', T, 'unknowns') end
  unknownsForgotten = true
end

local function forgetRefusals(T, no)
  if not refusalsForgotten[no] then redis.call('HDEL', batchKey(T, no), 'refusals', 'refusalClass') end
  refusalsForgotten[no] = true
end

--- `refusals`: {reason JSON, inARow, beforePaid}.
local function noteRefusal(T, no, class, refusals, now)
  local B = batchKey(T, no)
  refusalsForgotten[no] = nil
  if redis.call('HGET', B, 'refusalClass') ~= class then
    redis.call('HSET', B, 'refusalClass', class, 'refusals', 0)
  end
  local inARow = redis.call('HINCRBY', B, 'refusals', 1)
  local limit = countOf(T, no, 'P') == 0 and refusals.beforePaid or refusals.inARow
  if inARow >= limit and countOf(T, no, 'p') > 0 and redis.call('HGET', B, 'state') == 'running' then
    redis.call('HSET', B, 'state', 'halted', 'reason', refusals.reason)
    standStill(T, no, now)
    redis.call('HDEL', B, 'refusals', 'refusalClass')
  end
end

local function noteUnknown(T, limit, now)
  unknownsForgotten = false
  if redis.call('HINCRBY', T, 'unknowns', 1) >= limit then redis.call('HSETNX', T, 'breaker', now) end
end
