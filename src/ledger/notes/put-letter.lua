--[==[
  Puts a letter into the outbox. A letter whose id is known stays as it is, so that a caller may repeat the call.

  KEYS[1] letters by id  KEYS[2] ids by due time  KEYS[3] ids by time of writing  KEYS[4] ids by time of ending
  ARGV[1] id  ARGV[2] letter  ARGV[3] written, ms  ARGV[4] due, ms, or '' for a letter that has ended

  Returns 1, or 0 where the id is known
]==]
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
if ARGV[4] ~= '' then redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1]) else redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1]) end
return 1
