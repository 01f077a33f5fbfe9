--[==[
  The store was found to know all journals of these data folders.

  KEYS[1] the realm
  ARGV[1] the store in which that was found (see isSameStore)  ARGV[2…] numbers of the folders

    T:looked   number of a data folder → the sequence at which that was found last

  Returns {'ok'} | {'changed'}
]==]
--- @include "record"
--- @include "fence"
local T = KEYS[1]
if not isSameStore(T, ARGV[1]) then return { 'changed' } end
local seq = redis.call('HGET', T, 'seq') or '0'
for at = 2, #ARGV do redis.call('HSET', T .. ':looked', ARGV[at], seq) end
return { 'ok' }
