--[==[
  The batches that may have orders to feed, those first at which nobody has looked for the longest time.

  KEYS[1] the realm
  ARGV[1] session ('' for the workers)  ARGV[2] number of its batch  ARGV[3] how many at most
]==]
--- @include "record"
local T, session, batch, most = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if session == '' then
  return redis.call('ZRANGEBYSCORE', T .. ':feed', '-inf', string.format('%.0f', nowMs()), 'LIMIT', 0, most)
end
local state, owner, cursor, rows, recovered =
  unpack(redis.call('HMGET', batchKey(T, batch), 'state', 'owner', 'cursor', 'rows', 'recovered'), 1, 5)
local ask = { T = T, feeds = true, states = { planned = true, running = true }, owners = { [session] = true } }
local facts = { no = batch, state = state, owner = owner, recovered = recovered }
if whyNot(ask, facts, { code = 'w' }) or tonumber(cursor) > tonumber(rows) then return {} end
return { batch }
