--[==[
  Something about a batch was written by another way than a script.

  KEYS[1] the realm  ARGV[1…] numbers of batches
]==]
--- @include "record"
local T, numbers = KEYS[1], ARGV
for _, no in ipairs(numbers) do batches.touch(no) end
batches.flush(T)
return 'ok'
