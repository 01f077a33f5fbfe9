--[==[
  Keeps other senders from a letter until a later time.

  KEYS[1] letters by id  KEYS[2] ids by due time  KEYS[3] ids by time of writing  KEYS[4] ids by time of ending
  ARGV[1] id  ARGV[2] due time that the caller saw  ARGV[3] due time from now on, ms

  Returns 1, or 0 where another sender was quicker
]==]
local due, id, dueSeen, dueFrom = KEYS[2], ARGV[1], ARGV[2], ARGV[3]
if redis.call('ZSCORE', due, id) ~= dueSeen then return 0 end
redis.call('ZADD', due, dueFrom, id)
return 1
