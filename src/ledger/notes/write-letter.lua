--[==[
  Replaces a letter. One that has ended leaves when ARGV[5] newer ones have ended.

  KEYS[1] letters by id  KEYS[2] ids by due time  KEYS[3] ids by time of writing  KEYS[4] ids by time of ending
  ARGV[1] id  ARGV[2] letter  ARGV[3] due, ms, or '' where it has ended  ARGV[4] now, ms  ARGV[5] ended letters to keep

  Returns 1, or 0 where the letter is gone
]==]
local letters, due, written, ended = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, letter, dueAt, now, most = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
if redis.call('HEXISTS', letters, id) == 0 then return 0 end
redis.call('HSET', letters, id, letter)
if dueAt ~= '' then
  redis.call('ZADD', due, dueAt, id)
  redis.call('ZREM', ended, id)
  return 1
end
redis.call('ZREM', due, id)
redis.call('ZADD', ended, now, id)
local old = redis.call('ZRANGE', ended, 0, -1 - most)
for _, oldest in ipairs(old) do
  redis.call('HDEL', letters, oldest)
  redis.call('ZREM', written, oldest)
  redis.call('ZREM', ended, oldest)
end
return 1
