--[==[
  Moves an interrupted reading of a rule's facts to another run.

  KEYS[1] the realm's runs  KEYS[2] the facts read so far  KEYS[3] the facts of the other run
  ARGV[1] id of the interrupted run  ARGV[2] id of the other run  ARGV[3] its record

  Returns 1, or 0 where the interrupted run is not being read any more
]==]
local runs, facts, otherFacts = KEYS[1], KEYS[2], KEYS[3]
local id, otherId, record = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', runs, otherId) == 1 then return 1 end
local known = redis.call('HGET', runs, id)
if not known or cjson.decode(known).state ~= 'reading' then return 0 end
redis.call('HDEL', runs, id)
redis.call('HSET', runs, otherId, record)
if redis.call('EXISTS', facts) == 1 then redis.call('RENAME', facts, otherFacts) end
return 1
