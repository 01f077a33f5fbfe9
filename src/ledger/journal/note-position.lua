--[==[
  A store outside the data folder is a witness of that folder as well: it remembers how far the folder's journals had come.

  KEYS[1] the realm
  ARGV[1] number of the data folder  ARGV[2] sequence  ARGV[3] JSON of the position

  Returns 'ok' | 'no' (a session of the same folder has seen more)
]==]
local T, folder, seq, position = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]
local key = T .. ':folders'
local known = redis.call('HGET', key, folder)
if known and cjson.decode(known).seq > seq then return 'no' end
redis.call('HSET', key, folder, position)
return 'ok'
