--[==[
  Reads balance, profile and further balances of one member at a single moment. The script also looks at the
  old place of a member (see includes/members.lua): between two separate reads the member could move.

  Input:
    KEYS[1] balances
    KEYS[2] profiles
    KEYS[3] currencies besides the realm's own (set)

    ARGV[1] member

  Output:
    { balance or nil, profile or nil, { currency, balance, … } of the currencies besides the realm's own }
]==]
-- @include members

local balancesKey, profilesKey, currenciesKey = KEYS[1], KEYS[2], KEYS[3]
local member = ARGV[1]
local function read(map)
  return redis.call('HGET', homeOf(map, member), member) or redis.call('HGET', map, member)
end
local others = {}
for _, currency in ipairs(redis.call('SMEMBERS', currenciesKey)) do
  others[#others + 1] = currency
  others[#others + 1] = redis.call('HGET', homeOf(inCurrency(balancesKey, currency), member), member) or '0'
end
return { read(balancesKey), read(profilesKey), others }
