--[==[
  A map of all members is kept as many small hashes, `<map>:<shard>`: Redis packs what has up to 128 short
  values (its default), and loads and holds it some ten times cheaper than one hash of a million. A member's
  shard is its id modulo a prime, which spreads ids in a row as well as those whose last bits are all the same.

  Up to version 0.2 a map was one hash under its own name. A member that still stands there is brought home
  before a move looks at it, so that it never stands in both, and every change that is applied brings some
  others along, so that the old hash ends also where most members are never touched.
]==]
local SHARDS = 16381
local BROUGHT_ALONG = 16 -- with the profiles some 0.5 ms of Redis to a change

local function homeOf(map, member)
  -- In two parts: a double is exact up to 2^53, an id may have 20 digits.
  local high, low = tonumber(string.sub(member, 1, -10)) or 0, tonumber(string.sub(member, -9))
  return map .. ':' .. (high * (1e9 % SHARDS) + low) % SHARDS
end

--- The map of the balances in another currency than the realm's own; who stands in none of it has 0.
local function inCurrency(map, currency)
  return map .. '-in:' .. currency
end

-- Asked once in a script, which may name hundreds of members.
local hadOldHash = {}
local function hasOldHash(map)
  if hadOldHash[map] == nil then hadOldHash[map] = redis.call('EXISTS', map) == 1 end
  return hadOldHash[map]
end

local function bringHome(map, member)
  local home = homeOf(map, member)
  local old = hasOldHash(map) and redis.call('HGET', map, member)
  if old then
    -- Where an older version put a member again that had left, what was paid since it left counts.
    redis.call('HSETNX', home, member, old)
    redis.call('HDEL', map, member)
  end
  return home
end

local function bringOthersHome(map)
  if not hasOldHash(map) then return end
  for _, member in ipairs(redis.call('HRANDFIELD', map, BROUGHT_ALONG)) do bringHome(map, member) end
end
