--[[
  A sender has seen a higher sequence than the ledger has: the store has forgotten moves. Nothing is sent
  until every journal is merged again, also where the run_id is the same as before.

  KEYS[1] the realm
  ARGV[1] highest sequence seen  ARGV[2] note JSON for people  ARGV[3] session that has seen it

  Returns 'disarmed' | 'no' (the ledger is not behind)
]]
local T = KEYS[1]
local seq = tonumber(redis.call('HGET', T, 'seq') or '0')
if seq >= tonumber(ARGV[1]) then return 'no' end
-- Only the note stays of it: without a sequence the ledger would take itself for a new one and arm itself.
redis.call('HSET', T, 'rollback', ARGV[2], 'seq', seq)
-- Who has merged since the store came back stays merged: two that disarm in turn would wait for ever.
if redis.call('HDEL', T, 'armed') == 1 then
  redis.call('DEL', T .. ':merged')
else
  redis.call('HDEL', T .. ':merged', ARGV[3])
end
return 'disarmed'
