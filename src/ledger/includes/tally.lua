--[==[
  Included before `move` by scripts that move many orders: counters are added up here and written once.
  Whoever reads one in between asks `counter`; nobody else sees the store before `writeTally`.
]==]
local tally = {}
-- Beyond this, a double is no whole number any more.
local EXACT = 9007199254740992

local bumpNow = bump

local function writeOne(key, field, by)
  if by ~= 0 then bumpNow(key, field, string.format('%.0f', by)) end
end

local function bump(key, field, by)
  local fields = tally[key]
  if not fields then
    fields = {}
    tally[key] = fields
  end
  local sum = (fields[field] or 0) + tonumber(by)
  if math.abs(sum) >= EXACT then
    writeOne(key, field, fields[field])
    sum = tonumber(by)
  end
  fields[field] = sum
end

local function counter(key, field)
  local fields = tally[key]
  return tonumber(redis.call('HGET', key, field) or '0') + (fields and fields[field] or 0)
end

local function writeTally()
  for key, fields in pairs(tally) do
    for field, by in pairs(fields) do writeOne(key, field, by) end
  end
  tally = {}
end
