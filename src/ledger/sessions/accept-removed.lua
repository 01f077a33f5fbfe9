--[==[
  Notes that an operator has made doubts of all that removed journals may be missed for: these removals are not
  asked about again, and are no longer the reason why the ledger is closed. Only on the store in which the doubts were made.

  KEYS[1] the realm
  ARGV[1] JSON of what is accepted, as era → sequence  ARGV[2] the store in which the doubts were made
  ARGV[3] identity of the data folder that the store lies in ('' where it lies in none)
  ARGV[4] note JSON for people, as `disarm` writes it ('' where the folder was moved whole, so that nothing is missing)

  Returns 'ok' | 'changed'
]==]
--- @include "record"
--- @include "fence"
local T, accepted, store, folder, note = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if not isSameStore(T, store) then return 'changed' end
redis.call('HSET', T, 'acceptedRemoved', accepted)
redis.call('HDEL', T, 'missed', 'fenceReason', 'fenceAt')
if note ~= '' then
  redis.call('HSETNX', T, 'rollback', note)
  redis.call('HSET', T, 'forgotAt', nowMs(), 'forgot', '1')
  batches.touchOpen(T)
  batches.flush(T)
end
if folder ~= '' then
  redis.call('HSET', T, 'folder', folder)
  -- A store that lies in a data folder is used from that folder alone: the one of before is not waited for.
  redis.call('DEL', T .. ':dataFolders')
end
return 'ok'
