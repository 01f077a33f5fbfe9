--[==[
  Writes a block of members with balance, wallets and profile. Running it twice gives the same state as once.

  Input:
    KEYS[1] balances
    KEYS[2] profiles
    KEYS[3] wallets

    ARGV[1] what happens to a member that exists: 'leave' changes nothing, 'keep' keeps the
            balance and writes the profile, 'replace' writes both
    ARGV[2] JSON list of [member, tokens as digits, wallets, profile as JSON text or '']
    ARGV[3] the currency of the tokens, or '' for the realm's own

  Output:
    number of members that did not exist before
]==]
-- @include clock
-- @include members

local balancesKey, profilesKey, walletsKey = KEYS[1], KEYS[2], KEYS[3]
local existing, seeds, currency = ARGV[1], ARGV[2], ARGV[3]
local now = string.format('%.0f', nowMs())

-- Writes a member's profile and keeps the time of its creation.
local function putProfile(member, wallets, profile)
  local since = now
  local home = bringHome(profilesKey, member)
  local old = redis.call('HGET', home, member)
  if old then
    local facts
    since, facts = string.match(old, '^(%d+):?(.*)$')
    for _, wallet in ipairs(facts == '' and {} or cjson.decode(facts).wallets) do
      -- A wallet that another member has meanwhile stays with that member.
      if redis.call('HGET', walletsKey, wallet) == member then redis.call('HDEL', walletsKey, wallet) end
    end
  end
  redis.call('HSET', home, member, profile == '' and since or since .. ':' .. profile)
  for _, wallet in ipairs(wallets) do redis.call('HSET', walletsKey, wallet, member) end
end

local created = 0
for _, seed in ipairs(cjson.decode(seeds)) do
  local member, tokens, wallets, profile = seed[1], seed[2], seed[3], seed[4]
  local home = bringHome(balancesKey, member)
  local isNew = redis.call('HSETNX', home, member, currency == '' and tokens or '0') == 1
  if isNew then created = created + 1 end
  if currency ~= '' then
    local other = homeOf(inCurrency(balancesKey, currency), member)
    redis.call(existing == 'replace' and 'HSET' or 'HSETNX', other, member, tokens)
  elseif existing == 'replace' and not isNew then
    redis.call('HSET', home, member, tokens)
  end
  if isNew or existing ~= 'leave' then putProfile(member, wallets, profile) end
end
return created
