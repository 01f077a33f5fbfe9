--[==[
  The second person's go for a batch, for exactly what was shown to them. It counts until the batch begins, for a while; of
  one that has begun, dead letters may be retried while it counts.
  Where nobody knows who prepared it, the first who says go takes it up, and another has to say it as well.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] the batch's id  ARGV[3] who  ARGV[4] SHA-1 of the manifest that was shown
  ARGV[5] for how long it counts, ms  ARGV[6] audit JSON of the go  ARGV[7] audit JSON of taking it up

  Returns {'approved'} | {'taken-up'} | {'same-person', preparer} | {'changed'} | {'not-needed'} | {'disarmed'} | {'gone'}
]==]
--- @include "record"
--- @include "fence"
--- @include "gate"
local T, no, who = KEYS[1], ARGV[1], ARGV[3]
local B = batchKey(T, no)
local batch = redis.call('HMGET', B, 'state', 'manifest', 'preparer', 'begun', 'cleared', 'approval')
local state = batch[1]
if not state or not isBatch(T, no, ARGV[2]) or state == 'importing' or state == 'archived' or state == 'cancelled' then
  return { 'gone' }
end
if redis.sha1hex(batch[2]) ~= ARGV[4] then return { 'changed' } end
if isUnmerged(T) then return { 'disarmed' } end
local now = nowMs()
local startAt = setTime(T, no) or 0
if covers(T, batch[5], math.max(now, startAt)) or isGo(T, batch[6], now) then return { 'not-needed' } end
local preparer = batch[3]
if not preparer then
  redis.call('HSET', B, 'preparer', who)
  redis.call('RPUSH', B .. ':log', ARGV[7])
  batches.touch(no)
  batches.flush(T)
  return { 'taken-up' }
end
if isSamePerson(preparer, who) then return { 'same-person', preparer } end
-- Whoever says go after its time has seen that it is over: it begins at once.
if startAt < now then redis.call('HDEL', B, 'startAt', 'startZone') end
local ends = math.max(now + tonumber(ARGV[5]), startAt + HOUR_MS)
local go = cjson.encode({ who = who, at = now, ends = ends, forgotAt = redis.call('HGET', T, 'forgotAt') or '' })
redis.call('HSET', B, 'approval', go)
redis.call('RPUSH', B .. ':log', ARGV[6])
batches.touch(no)
batches.flush(T)
return { 'approved' }
