--[==[
  Whose token is revoked has approved nothing that has not begun.

  KEYS[1] the realm  ARGV[1] who

  Returns the ids of the batches that wait again
]==]
--- @include "record"
--- @include "gate"
--- @include "move"
local T, found = KEYS[1], {}
-- Also of those that are done: a go for their dead letters counts until it ends.
for _, no in ipairs(redis.call('ZRANGE', T .. ':asks', 0, -1)) do
  local B = batchKey(T, no)
  local approval = redis.call('HGET', B, 'approval')
  if approval and isSamePerson(cjson.decode(approval).who, ARGV[1]) then
    redis.call('HDEL', B, 'approval')
    batches.touch(no)
    found[#found + 1] = redis.call('HGET', B, 'id')
  end
end
local lowering = redis.call('HGET', T, 'lowering')
if lowering and isSamePerson(cjson.decode(lowering).who, ARGV[1]) then redis.call('HDEL', T, 'lowering') end
if #found > 0 then noteAct(T) end
batches.flush(T)
return found
