--[==[
  Replaces a note that is still as the caller saw it. A repeated call finds the note it has written.

  KEYS[1] the notes
  ARGV[1] name  ARGV[2] the note as the caller saw it, '' for none  ARGV[3] the note from now on, '' for none

  Returns 1, or 0 where another caller was quicker
]==]
local notes, name, seen, note = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local known = redis.call('HGET', notes, name) or ''
if known == note then return 1 end
if known ~= seen then return 0 end
if note == '' then redis.call('HDEL', notes, name) else redis.call('HSET', notes, name, note) end
return 1
