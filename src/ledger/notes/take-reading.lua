--[==[
  Moves an interrupted reading of a rule's facts to another run.

  KEYS[1] the realm's runs  KEYS[2] the facts read so far  KEYS[3] the facts of the other run
  ARGV[1] id of the interrupted run  ARGV[2] id of the other run  ARGV[3] its record

  Returns 1, or 0 where the interrupted run is not being read any more
]==]
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then return 1 end
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known or cjson.decode(known).state ~= 'reading' then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[3]) end
return 1
