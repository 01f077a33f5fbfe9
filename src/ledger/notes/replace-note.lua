--[==[
  Replaces a note that is still as the caller saw it. A repeated call finds the note it has written.

  KEYS[1] the notes
  ARGV[1] name  ARGV[2] the note as the caller saw it, '' for none  ARGV[3] the note from now on, '' for none

  Returns 1, or 0 where another caller was quicker
]==]
local known = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if known == ARGV[3] then return 1 end
if known ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1
