--[==[
  How a batch stands before it begins.

  KEYS[1] the realm  ARGV[1] batch no

  Returns {why it may not begin ('' where it may), preparer ('' for none known), startAt ('' for at once), its zone, JSON of the request
    for an approval ('' for none), JSON of the one for a retry}
]==]
--- @include "record"
--- @include "gate"
local T, no = KEYS[1], ARGV[1]
local batch = redis.call('HMGET', batchKey(T, no), 'preparer', 'startAt', 'startZone', 'approval', 'retry')
return { closedGate(T, no, nowMs()) or '', batch[1] or '', setTime(T, no) and batch[2] or '', batch[3] or '', batch[4] or '', batch[5] or '' }
