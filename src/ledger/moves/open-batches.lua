--[==[
  The open batches, with how far each is fed, how many of its orders are dispatched, and how many are being sent.

  KEYS[1] the realm

  Returns a flat list: no, id, state, owner, cursor, rows, dispatched, sending, no, …
]==]
--- @include "record"
local T, found = KEYS[1], {}
for _, no in ipairs(redis.call('ZRANGE', T .. ':open', 0, -1)) do
  local B = batchKey(T, no)
  found[#found + 1] = no
  for _, value in ipairs(redis.call('HMGET', B, 'id', 'state', 'owner', 'cursor', 'rows')) do found[#found + 1] = value or '' end
  found[#found + 1] = redis.call('ZCARD', B .. ':due')
  found[#found + 1] = redis.call('HGET', B .. ':n', 'c:s') or '0'
end
return found
