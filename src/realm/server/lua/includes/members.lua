--[==[
  A map of all members is stored as many small hashes, `<map>:<shard>`. Redis packs a hash of up to 128 short
  values (its default); that makes loading and memory about ten times cheaper than one hash of a million. A
  member's shard is its id modulo a prime. This spreads consecutive ids, and also ids whose last bits are equal.

  Up to version 0.2 a map was one hash under its own name. A script moves a member from there to its new place
  before it reads it, so no member is ever in both. Every applied change also moves a few other members, so
  that the old hash empties even if most members are never touched.
]==]
local SHARDS = 16381
local BROUGHT_ALONG = 16 -- together with the profiles, this costs about 0.5 ms of Redis per change

local function homeOf(map, member)
  -- Computed in two parts: a double is exact up to 2^53, but an id may have 20 digits.
  local high, low = tonumber(string.sub(member, 1, -10)) or 0, tonumber(string.sub(member, -9))
  return map .. ':' .. (high * (1e9 % SHARDS) + low) % SHARDS
end

-- The map of the balances in a further currency. A member without an entry has 0 there.
local function inCurrency(map, currency)
  return map .. '-in:' .. currency
end

-- Checked once per script, because a script may name hundreds of members.
local hadOldHash = {}
local function hasOldHash(map)
  if hadOldHash[map] == nil then hadOldHash[map] = redis.call('EXISTS', map) == 1 end
  return hadOldHash[map]
end

-- Moves a member from the old hash to its new one and returns the new one.
local function bringHome(map, member)
  local home = homeOf(map, member)
  local old = hasOldHash(map) and redis.call('HGET', map, member)
  if old then
    -- If an older version created the member again after it moved, the new place counts: it holds the later payments.
    redis.call('HSETNX', home, member, old)
    redis.call('HDEL', map, member)
  end
  return home
end

-- Moves a few more members, so that the old hash empties over time.
local function bringOthersHome(map)
  if not hasOldHash(map) then return end
  for _, member in ipairs(redis.call('HRANDFIELD', map, BROUGHT_ALONG)) do bringHome(map, member) end
end
