--[==[
  Something about a batch was written by another way than a script.

  KEYS[1] the realm  ARGV[1…] numbers of batches
]==]
--- @include "record"
for i = 1, #ARGV do batches.touch(ARGV[i]) end
batches.flush(KEYS[1])
return 'ok'
