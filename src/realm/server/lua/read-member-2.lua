--[==[
  Reads one member at one moment, wherever it stands: as two reads it could be on its way home between them.

  Input:
    KEYS[1] balances
    KEYS[2] profiles

    ARGV[1] member

  Output:
    { balance or nil, profile or nil }
]==]
-- @include members

local member = ARGV[1]
local function read(map)
  return redis.call('HGET', homeOf(map, member), member) or redis.call('HGET', map, member)
end
return { read(KEYS[1]), read(KEYS[2]) }
