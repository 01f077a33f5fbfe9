--[==[
  How many orders of running batches are dispatched and due within a while.

  KEYS[1] the realm
  ARGV[1] session ('' for the workers)  ARGV[2] number of its batch  ARGV[3] while, ms  ARGV[4] nobody asks how many more than these
]==]
--- @include "record"
local T, session, batch, whileMs, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local until_ = string.format('%.0f', nowMs() + whileMs)
local numbers = session ~= '' and { batch } or redis.call('ZRANGEBYSCORE', T .. ':busy', '-inf', until_)
local count = 0
for _, no in ipairs(numbers) do
  local B = batchKey(T, no)
  if redis.call('HGET', B, 'state') == 'running' then count = count + redis.call('ZCOUNT', B .. ':due', '-inf', until_) end
  if count >= most then break end
end
return count
