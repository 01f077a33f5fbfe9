--[[
  An order's record: fields joined by '|', in the block's hash under the order's index.
  No record: the order is planned and was never sent.

    settled or waiting  S|n|attempts|tries|status|balance|sent|took|evidence|marks
    sending             s|n|attempts|tries|session|nonce|sent|prior|status|marks

  S is one character: w waiting for its next attempt (shown as planned), s sending, P paid, R refused,
  X exhausted, u unknown, D doubt, d duplicate, i invalid, c cancelled.
  n is the number in the order's key; it grows only after a definite no from the realm.
  `prior` is 'u' when the attempt is a resend of an unknown one.
]]
local BLOCK_ORDERS = 128

local function split(record)
  local fields = {}
  for field in string.gmatch(record .. '|', '([^|]*)|') do
    fields[#fields + 1] = field
  end
  return fields
end

local function batchKey(T, no)
  return T .. ':b:' .. no
end

local function recordKey(T, no, index)
  return T .. ':b:' .. no .. ':o:' .. math.floor((tonumber(index) - 1) / BLOCK_ORDERS)
end

local function readRecord(T, no, index)
  return redis.call('HGET', recordKey(T, no, index), index)
end

local function writeRecord(T, no, index, record)
  redis.call('HSET', recordKey(T, no, index), index, record)
end

--- The state as the world sees it: what a cancelled batch never sent is cancelled, without a write per row.
local function stateOf(record, cancelled)
  local code = record and string.sub(record, 1, 1) or 'w'
  if code ~= 'w' then return code end
  return cancelled and 'c' or 'p'
end

local function isCancelled(T, no)
  return redis.call('HGET', batchKey(T, no), 'state') == 'cancelled'
end

local function nowMs()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

--- Whether an order that is due in so long should wait. No pause is longer: the clock was stepped back since.
local LONGEST_PAUSE_MS = 30 * 60 * 1000
local function isPause(ms)
  return ms > 0 and ms <= LONGEST_PAUSE_MS
end

--- Counters; `tally` has others of the same names for scripts that move many orders.
local function bump(key, field, by)
  redis.call('HINCRBY', key, field, by)
end

local function counter(key, field)
  return tonumber(redis.call('HGET', key, field) or '0')
end
