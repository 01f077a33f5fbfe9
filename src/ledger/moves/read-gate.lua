--[[
  How a batch stands before it begins.

  KEYS[1] the realm  ARGV[1] batch no

  Returns {why it may not begin ('' where it may), preparer ('' for nobody known), startAt ('' for at once), its zone, go JSON ('' for none)}
]]
--- @include "record"
--- @include "gate"
local T, no = KEYS[1], ARGV[1]
local batch = redis.call('HMGET', batchKey(T, no), 'preparer', 'startAt', 'startZone', 'approval')
local now = nowMs()
return { closedGate(T, no, now) or '', batch[1] or '', batch[2] or '', batch[3] or '',
  isGo(T, batch[4], now) and batch[4] or '' }
