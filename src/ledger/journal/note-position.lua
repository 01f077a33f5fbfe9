--[==[
  A store outside the data folder is a witness of that folder as well: it remembers how far the folder's journals had come.

  KEYS[1] the realm
  ARGV[1] number of the data folder  ARGV[2] sequence  ARGV[3] JSON of the position

  Returns 'ok' | 'no' (a session of the same folder has seen more)
]==]
local key = KEYS[1] .. ':folders'
local known = redis.call('HGET', key, ARGV[1])
if known and cjson.decode(known).seq > tonumber(ARGV[2]) then return 'no' end
redis.call('HSET', key, ARGV[1], ARGV[3])
return 'ok'
