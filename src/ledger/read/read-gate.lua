--[==[
  How a batch stands before it begins.

  KEYS[1] the realm  ARGV[1] batch no

  Returns {why it may not begin ('' where it may), preparer ('' for none known; of a batch that waits for an approval who asks for it, ''
    where it cannot be approved), startAt ('' for at once), its zone, JSON of the request
    for an approval ('' for none), JSON of the one for a retry}. A request for other dead letters than there are now stands in the way
    of no batch that waits
]==]
--- @include "record"
--- @include "gate"
local T, no = KEYS[1], ARGV[1]
local preparer, startAt, startZone, approval, retry =
  unpack(redis.call('HMGET', batchKey(T, no), 'preparer', 'startAt', 'startZone', 'approval', 'retry'), 1, 5)
local closed = closedGate(T, no, nowMs())
if closed == 'approval' then
  preparer = firstOf(T, no, cjson.decode(approval))
  retry = retry and lettersOf(T, no) and retry
end
return { closed or '', preparer or '', setTime(T, no) and startAt or '', startZone or '', approval or '', retry or '' }
