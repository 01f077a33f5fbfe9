--[==[
  A person, or an interrupted run, steers a batch. What is being sent finishes in every case. The audit entry
  is the call's nonce: asked again, it is the same move.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] pause | halt | resume | cancel | disown  ARGV[3] audit JSON ('' for none)
  ARGV[4] reason JSON (pause, halt, disown); for a resume the code it must be halted for ('' for any); for a cancel 'unapproved'
    where it must still wait for a second person
  ARGV[5] owner after a resume ('' hands it to the workers)
  ARGV[6] owner it must have now ('*' for any): an interrupted run pauses only what is still its own, and of two
    runs that take over at once one does
  ARGV[7] how many orders this resume may feed ('' for all)  ARGV[8] reason JSON when that many are through
  ARGV[9] the batch's id
  ARGV[10] '1': the resume begins it now instead of at its set time

  disown: the session that owned the batch is gone. It lets go of its members and is paused (a halted realm, or a
  store that is not safe, stays the reason why it stands still); what is unknown in a cancelled one is left to the workers.
  halt: a pause by the program itself.

  A resume keeps what waits for an approval waiting (see gate), and keeps a set time, whether it is ahead or was missed, unless the
  person says now.

  Returns {'ok', state} | {'no', state, or why it may not begin}
]==]
--- @include "record"
--- @include "move"
--- @include "hold"
--- @include "gate"
--- @include "sender-gate"
--- @include "first-sends"
local T, no, verb = KEYS[1], ARGV[1], ARGV[2]
local given = { audit = ARGV[3], reason = ARGV[4], owner = ARGV[5], ownerNow = ARGV[6], limit = ARGV[7], limitReason = ARGV[8],
  batch = ARGV[9], beginsNow = ARGV[10] }
local B = batchKey(T, no)
local state, owner, reason = unpack(redis.call('HMGET', B, 'state', 'owner', 'reason'), 1, 3)
owner = owner or ''
if not state or not isBatch(T, no, given.batch) then return { 'no', 'gone' } end
if state == 'importing' or state == 'archived' then return { 'no', state } end
if given.audit ~= '' and redis.call('LPOS', B .. ':log', given.audit, 'RANK', -1, 'MAXLEN', 100) then
  return { 'ok', state }
end
local isTaken = verb == 'resume' and given.owner ~= '' and owner == given.owner
if given.ownerNow ~= '*' and given.ownerNow ~= owner and not isTaken then return { 'no', 'owner' } end
local now = nowMs()
local going = state == 'running' or state == 'planned' or state == 'waiting'

if verb == 'pause' or verb == 'halt' or verb == 'disown' then
  if verb == 'disown' and state == 'cancelled' then
    redis.call('HSET', B, 'owner', '')
  elseif not going then
    return { 'no', state }
  elseif verb == 'disown' and waitsForPerson(T, no) then
    -- It waits already; the workers look after what is unknown in it.
    redis.call('HSET', B, 'owner', '', 'handedAt', now)
  elseif verb ~= 'disown' or (redis.call('HEXISTS', T, 'halt') == 0 and redis.call('HEXISTS', T, 'fenceReason') == 0) then
    redis.call('HSET', B, 'state', verb == 'halt' and 'halted' or 'paused', 'reason', given.reason)
  end
  standStill(T, no, now)
elseif verb == 'resume' then
  if state == 'done' or state == 'cancelled' then return { 'no', state } end
  if given.reason ~= '' and (state ~= 'halted' or cjson.decode(reason).code ~= given.reason) then return { 'no', state } end
  local closed = closedGate(T, no, now)
  -- An approval is for the time that was shown; without one it begins when a person says so.
  local isBound = closed == 'start-time' and readRequest(T, 'batch', no)
  if closed and given.beginsNow == '1' and isBound then return { 'no', closed } end
  if closed and closed ~= 'approval' and given.beginsNow == '1' then
    redis.call('HDEL', B, 'startAt', 'startZone')
    closed = nil
  end
  if closed and going then return { 'no', closed } end
  redis.call('HDEL', B, 'reason', 'refusals', 'refusalClass')
  if closed then
    -- What was sent of it before the store forgot that it had begun is still looked after.
    redis.call('HSET', B, 'state', stateBefore(T, no, closed), 'owner', '')
  else
    -- It begins where the feeder takes it: by the limits of whoever sends.
    redis.call('HSET', B, 'state', 'running', 'owner', given.owner)
  end
  if closed or given.owner == '' then redis.call('HSET', B, 'handedAt', now) end
  -- What was confirmed for the first so many is not confirmed for all when the program itself lets it go on.
  if given.reason == '' then redis.call('HDEL', B, 'limit', 'limitReason') end
  if given.limit ~= '' then
    -- What was dispatched before counts as well: it is taken back and fed again, so many and no more.
    senderGate.takeBack(T, no, now)
    redis.call('HSET', B, 'limit', given.limit, 'limitReason', given.limitReason)
  end
elseif verb == 'cancel' then
  if state == 'done' or state == 'cancelled' then return { 'no', state } end
  if given.reason == 'unapproved' and closedGate(T, no, now) ~= 'approval' then return { 'no', state } end
  redis.call('HSET', B, 'state', 'cancelled', 'finishedAt', now)
  dropRequest(T, 'batch', no)
  dropRequest(T, 'retry', no)
  waitsNoLonger(T, no)
  redis.call('HDEL', B, 'reason', 'limit', 'limitReason')
  -- A run that nobody works any more leaves what is unknown in it to the workers.
  if not going or redis.call('HEXISTS', T .. ':sessions', owner) == 0 then redis.call('HSET', B, 'owner', '') end
  -- All that was never sent becomes cancelled by this one flag; the counters say so at once.
  local counters = B .. ':n'
  local count, tokens = unpack(redis.call('HMGET', counters, 'c:p', 't:p'))
  redis.call('HINCRBY', counters, 'c:c', count or '0')
  redis.call('HINCRBY', counters, 't:c', tokens or '0')
  redis.call('HSET', counters, 'c:p', 0, 't:p', 0)
  giveBackPlanned(T, no)
  -- An unknown stays dispatched, it must still be resolved.
  standStill(T, no, now)
  senderGate.undispatchAll(T, no)
else
  return redis.error_reply('ERR steer knows no ' .. verb)
end
if given.audit ~= '' then redis.call('RPUSH', B .. ':log', given.audit) end
batches.touch(no)
noteAct(T)
local ends = finishIfDone(T, no)
batches.flush(T)
return { 'ok', ends }
