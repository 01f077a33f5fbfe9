--[==[
  Adds the running totals of one day to those of its month, and drops the day. What is heard of that day later makes it
  anew, and the day is folded again.

  KEYS[1] the realm
  ARGV[1] day, YYYY-MM-DD

  Returns how many sums were folded
]==]
--- @include "record"
--- @include "totals"
local T, day = KEYS[1], ARGV[1]
if not string.find(day, '^%d%d%d%d%-%d%d%-%d%d$') then return redis.error_reply('ERR day: not a day') end
local month = string.sub(day, 1, 7)

local function fold(from, to, fieldOf)
  local fields = redis.call('HGETALL', from)
  for at = 1, #fields, 2 do
    local field = fieldOf(fields[at])
    if field then bump(to, field, fields[at + 1]) end
  end
  redis.call('DEL', from)
end

local function same(field) return field end

--- By the labels that the letters stand for: the month has letters of its own.
local function foldGroup(from, to)
  fold(from, to, function(field)
    local letter, kind = string.sub(field, 1, 1), string.sub(field, 2)
    if kind == '' then return nil end
    local label = redis.call('HGET', from, letter)
    return (label and totals.letterOf(to, label) or letter) .. kind
  end)
end

local folded = 0
for _, entry in ipairs(redis.call('SMEMBERS', T .. ':sums')) do
  local currency = string.sub(entry, 1, 11) == day .. ':' and string.sub(entry, 12)
  if currency then
    fold(T .. ':sum:' .. entry, T .. ':sum:' .. month .. ':' .. currency, same)
    for _, kind in ipairs({ 'rule', 'reason' }) do
      local by = T .. ':by:' .. kind .. ':'
      foldGroup(by .. entry, by .. month .. ':' .. currency)
    end
  elseif entry == day then
    fold(T .. ':work:' .. day, T .. ':work:' .. month, same)
  end
  if currency or entry == day then
    redis.call('SREM', T .. ':sums', entry)
    totals.list(T, month, currency and ':' .. currency or '')
    folded = folded + 1
  end
end
return folded
