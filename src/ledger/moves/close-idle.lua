-- Closes a cancelled batch in which nothing is sent or unknown any more. In one step: a journal that is merged meanwhile
-- may bring an unknown back, and finds the batch open or reopens it.
--
-- KEYS[1] the realm
-- ARGV[1] batch no
--
-- Returns 'closed' | 'open'
--- @include "record"
local T, no = KEYS[1], ARGV[1]
if not isCancelled(T, no) then return 'open' end
local counts = redis.call('HMGET', batchKey(T, no) .. ':n', 'c:s', 'c:u')
if tonumber(counts[1] or '0') + tonumber(counts[2] or '0') > 0 then return 'open' end
redis.call('SREM', T .. ':open', no)
return 'closed'
