--[==[
  A batch whose archive was written and read back becomes `archived`: nothing moves in it any more, and its
  rows may leave the store. Only as it was when it was written: any move since then refuses.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] version it was written at  ARGV[3] sha-256 of the file

  Returns 'ok' | 'moved' | the state it is in
]==]
--- @include "record"
--- @include "move"
local T, no = KEYS[1], ARGV[1]
local B = batchKey(T, no)
local meta = redis.call('HMGET', B, 'state', 'version')
if meta[1] ~= 'done' and meta[1] ~= 'cancelled' then return meta[1] or 'gone' end
if (meta[2] or '0') ~= ARGV[2] then return 'moved' end
for _, code in ipairs({ 's', 'u', 'D' }) do
  if countOf(T, no, code) > 0 then return 'moved' end
end
redis.call('HSET', B, 'state', 'archived', 'ended', meta[1], 'archive', ARGV[3])
redis.call('SREM', T .. ':open', no)
return 'ok'
