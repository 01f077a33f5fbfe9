--[==[
  Keeps the reason why the ledger stays closed, which `status`, `doctor` and the desk tell. One that was opened meanwhile has
  none; opening takes it away.

  KEYS[1] the realm
  ARGV[1] reason JSON

  Returns 'ok' | 'open'
]==]
--- @include "record"
--- @include "fence"
local T, reason = KEYS[1], ARGV[1]
if not isUnmerged(T) then return 'open' end
redis.call('HSETNX', T, 'fenceAt', nowMs())
redis.call('HSET', T, 'fenceReason', reason)
return 'ok'
