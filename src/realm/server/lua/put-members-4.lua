--[==[
  Writes a block of members. Running it twice leaves the same state as running it once.

  Input:
    KEYS[1] balances
    KEYS[2] profiles
    KEYS[3] wallets

    ARGV[1] of a member that exists: 'leave' leaves all, 'keep' the balance, 'replace' nothing
    ARGV[2] JSON list of [member, tokens as digits, wallets, profile as JSON text or '' for one that says nothing]
    ARGV[3] the currency of the tokens, or '' for the realm's own

  Output:
    number of members that did not exist before
]==]
-- @include clock
-- @include members

local existing, currency = ARGV[1], ARGV[3]
local now = string.format('%.0f', nowMs())

local function putProfile(member, wallets, profile)
  local since = now
  local home = bringHome(KEYS[2], member)
  local old = redis.call('HGET', home, member)
  if old then
    local facts
    since, facts = string.match(old, '^(%d+):?(.*)$')
    for _, wallet in ipairs(facts == '' and {} or cjson.decode(facts).wallets) do
      -- A wallet that meanwhile went to another member stays with that one.
      if redis.call('HGET', KEYS[3], wallet) == member then redis.call('HDEL', KEYS[3], wallet) end
    end
  end
  redis.call('HSET', home, member, profile == '' and since or since .. ':' .. profile)
  for _, wallet in ipairs(wallets) do redis.call('HSET', KEYS[3], wallet, member) end
end

local created = 0
for _, seed in ipairs(cjson.decode(ARGV[2])) do
  local member, tokens, wallets, profile = seed[1], seed[2], seed[3], seed[4]
  local home = bringHome(KEYS[1], member)
  local isNew = redis.call('HSETNX', home, member, currency == '' and tokens or '0') == 1
  if isNew then created = created + 1 end
  if currency ~= '' then
    local other = homeOf(inCurrency(KEYS[1], currency), member)
    redis.call(existing == 'replace' and 'HSET' or 'HSETNX', other, member, tokens)
  elseif existing == 'replace' and not isNew then
    redis.call('HSET', home, member, tokens)
  end
  if isNew or existing ~= 'leave' then putProfile(member, wallets, profile) end
end
return created
