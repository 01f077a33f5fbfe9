--[==[
  What should have been worked on by now, and what a clock that was stepped back has put off for too long.

  KEYS[1] the realm
  ARGV[1] session ('' for the workers)  ARGV[2] number of its batch  ARGV[3] due before so many ms
  ARGV[4] due later than in so many ms  ARGV[5] how many at most  ARGV[6] '1': looks at every batch, also at one whose first order
    is due in time

  Returns JSON [[no, [index, dispatch generation (0 until it was dispatched anew), …]], …]
]==]
--- @include "record"
local T, session, batch, lateMs, strayMs = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local left, looksAtAll = tonumber(ARGV[5]), ARGV[6] == '1'
local now = nowMs()
local late, stray = string.format('%.0f', now - lateMs), string.format('(%.0f', now + strayMs)

local function numbers()
  if session ~= '' then return { batch } end
  if looksAtAll then return redis.call('ZRANGE', T .. ':busy', 0, -1) end
  local found = redis.call('ZRANGEBYSCORE', T .. ':busy', '-inf', late)
  for _, no in ipairs(redis.call('ZRANGEBYSCORE', T .. ':busy', stray, '+inf')) do found[#found + 1] = no end
  return found
end

local function overdueOf(no)
  local B = batchKey(T, no)
  local mine, waits = batchToSweep(T, no, session)
  if not mine then return {} end
  local found = redis.call('ZRANGEBYSCORE', B .. ':due', '-inf', late, 'LIMIT', 0, left)
  for _, index in ipairs(redis.call('ZRANGEBYSCORE', B .. ':due', stray, '+inf', 'LIMIT', 0, left)) do found[#found + 1] = index end
  if #found == 0 then return found end
  local orders = {}
  for _, index in ipairs(found) do
    -- What waits for a person is not dispatched, and must not keep others from being looked at.
    local isSent = not waits or string.sub(readRecord(T, no, index) or 'w', 1, 1) ~= 'w'
    if isSent then
      orders[#orders + 1] = tonumber(index)
      orders[#orders + 1] = tonumber(redis.call('HGET', B .. ':g', index) or '0')
    end
  end
  left = left - #orders / 2
  return orders
end

local found = {}
for _, no in ipairs(numbers()) do
  if left <= 0 then break end
  local orders = overdueOf(no)
  if #orders > 0 then found[#found + 1] = { no, orders } end
end
return #found == 0 and '[]' or cjson.encode(found)
