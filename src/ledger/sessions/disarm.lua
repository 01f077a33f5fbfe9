--[==[
  Lowers the fence: a sender has seen a higher sequence than the ledger has, or a journal knows attempts which the
  ledger does not. The store has forgotten moves, so nothing is sent until every journal is merged again, also
  where the run_id is the same as before.

  KEYS[1] the realm
  ARGV[1] highest sequence seen ('' where a journal knows more)  ARGV[2] note JSON for people ('' where nothing was forgotten)
  ARGV[3] session that has seen it  ARGV[4] JSON of what no journal tells any more, and a person has to accept ('' for none)
  ARGV[5] when the earliest attempt was sent that it has forgotten, ms ('' where that is not known)

  Returns 'disarmed' | 'no' (the ledger is not behind)
]==]
--- @include "record"
--- @include "last-recovery"
local T, seen, note, session, missed, firstSentAt = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local seq = tonumber(redis.call('HGET', T, 'seq') or '0')
if seen ~= '' and seq >= tonumber(seen) then return 'no' end
-- Only the note stays of it: without a sequence the ledger would take itself for a new one and arm itself.
redis.call('HSET', T, 'seq', seq)
if note ~= '' then
  redis.call('HSET', T, 'rollback', note, 'forgotAt', nowMs(), 'forgot', '1')
  noteForgotten(T, firstSentAt)
  batches.touchOpen(T)
end
local found = redis.call('HGET', T, 'found')
if not found or tonumber(found) > seq then redis.call('HSET', T, 'found', seq) end
if missed ~= '' then redis.call('HSET', T, 'missed', missed) end
-- Who has merged since the store came back stays merged: two that disarm in turn would wait for ever.
if redis.call('HDEL', T, 'armed') == 1 then
  redis.call('DEL', T .. ':merged', T .. ':looks')
else
  redis.call('HDEL', T .. ':merged', session)
end
batches.flush(T)
return 'disarmed'
