--[==[
  Replaces a letter. One that has ended leaves when ARGV[5] newer ones have ended.

  KEYS[1] letters by id  KEYS[2] ids by due time  KEYS[3] ids by time of writing  KEYS[4] ids by time of ending
  ARGV[1] id  ARGV[2] letter  ARGV[3] due, ms, or '' where it has ended  ARGV[4] now, ms  ARGV[5] ended letters to keep

  Returns 1, or 0 where the letter is gone
]==]
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
  return 1
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[1])
local old = redis.call('ZRANGE', KEYS[4], 0, -1 - tonumber(ARGV[5]))
for _, id in ipairs(old) do
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[3], id)
  redis.call('ZREM', KEYS[4], id)
end
return 1
