--[==[
  Puts a letter into the outbox. A letter whose id is known stays as it is, so that a caller may repeat the call.

  KEYS[1] letters by id  KEYS[2] ids by due time  KEYS[3] ids by time of writing  KEYS[4] ids by time of ending
  ARGV[1] id  ARGV[2] letter  ARGV[3] written, ms  ARGV[4] due, ms, or '' for a letter that has ended

  Returns 1, or 0 where the id is known
]==]
local letters, due, written, ended = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, letter, writtenAt, dueAt = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('HSETNX', letters, id, letter) == 0 then return 0 end
redis.call('ZADD', written, writtenAt, id)
if dueAt ~= '' then redis.call('ZADD', due, dueAt, id) else redis.call('ZADD', ended, writtenAt, id) end
return 1
