--[==[
  What no state can tell: that an order was paid twice, or that one which is archived was paid after all. It stands in the
  batch's 'second' ('<index>:<nonce>:<how> …') and in its audit. How: P paid twice, u perhaps twice, B paid beside another
  order of the same debt, A paid after all, a perhaps after all.
]==]
local function keepSecond(key, index, attempt, how)
  local said = redis.call('HGET', key, 'second') or ''
  local word = ' ' .. index .. ':' .. attempt .. ':' .. how
  if string.find(said, word, 1, true) then return false end
  redis.call('HSET', key, 'second', said .. word)
  return true
end

--- Writes into the batch's audit that the order was paid, or may have been.
local function sayPaid(T, no, index, isProven, how, why)
  local B = batchKey(T, no)
  redis.call('RPUSH', B .. ':log', cjson.encode({ at = nowMs(), who = 'almoner', why = why,
    what = 'order ' .. (redis.call('HGET', B, 'id') or '') .. '-' .. index .. (isProven and ' was paid' or ' may have been paid') .. how }))
end

local TAKE_BACK = '; look upstream, and where both are there, take one back with the row that almoner undo writes for it, or, where it is an undo itself, with an order of its own'
--- Answers whether that is new.
local function sayTwice(T, no, index, attempt, isProven, why)
  if not keepSecond(batchKey(T, no), index, attempt, isProven and 'P' or 'u') then return false end
  sayPaid(T, no, index, isProven, ' twice', why .. TAKE_BACK)
  return true
end

local function sayBeside(T, no, index, attempt, other)
  if not keepSecond(batchKey(T, no), index, attempt, 'B') then return end
  sayPaid(T, no, index, true, ' twice', other .. TAKE_BACK)
  batches.touch(no)
end

--- The other order of the debt was undone. The audit keeps what was said.
local function unsayBeside(T, no, index)
  local B = batchKey(T, no)
  local said = redis.call('HGET', B, 'second')
  local left = said and string.gsub(said, ' ' .. index .. ':[^ :]*:B', '')
  if not left or left == said then return end
  redis.call('HSET', B, 'second', left)
  batches.touch(no)
end

local function sayAfterAll(T, no, index, attempt, isProven, why)
  if not keepSecond(batchKey(T, no), index, attempt, isProven and 'A' or 'a') then return false end
  sayPaid(T, no, index, isProven, ' after all', why .. '; look upstream')
  return true
end
