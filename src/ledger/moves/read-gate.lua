--[==[
  How a batch stands before it begins.

  KEYS[1] the realm  ARGV[1] batch no

  Returns {why it may not begin ('retry': it has, and a retry of its dead letters waits; '' for neither), preparer ('' for nobody known), startAt ('' for at once), its zone, go JSON ('' for none)}
]==]
--- @include "record"
--- @include "gate"
local T, no = KEYS[1], ARGV[1]
local batch = redis.call('HMGET', batchKey(T, no), 'preparer', 'startAt', 'startZone', 'approval')
local now = nowMs()
local asks = redis.call('HEXISTS', batchKey(T, no), 'asksGo') == 1 and not mayRetry(T, no, now)
return { closedGate(T, no, now) or asks and 'retry' or '', batch[1] or '', setTime(T, no) and batch[2] or '', batch[3] or '',
  isGo(T, batch[4], now) and batch[4] or '' }
