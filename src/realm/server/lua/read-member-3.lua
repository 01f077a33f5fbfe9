--[==[
  Reads one member at one moment, wherever it stands: as two reads it could be on its way home between them.

  Input:
    KEYS[1] balances
    KEYS[2] profiles
    KEYS[3] currencies beside the realm's own (set)

    ARGV[1] member

  Output:
    { balance or nil, profile or nil, { currency, balance, … } of those beside the realm's own }
]==]
-- @include members

local member = ARGV[1]
local function read(map)
  return redis.call('HGET', homeOf(map, member), member) or redis.call('HGET', map, member)
end
local others = {}
for _, currency in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  others[#others + 1] = currency
  others[#others + 1] = redis.call('HGET', homeOf(inCurrency(KEYS[1], currency), member), member) or '0'
end
return { read(KEYS[1]), read(KEYS[2]), others }
