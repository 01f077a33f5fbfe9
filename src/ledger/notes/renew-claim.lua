--[==[
  Makes a claim last longer.

  KEYS[1] the claim
  ARGV[1] its owner  ARGV[2] ms from now on

  Returns 1, or 0 where the claim is another's
]==]
local claim, owner, ms = KEYS[1], ARGV[1], ARGV[2]
if redis.call('GET', claim) ~= owner then return 0 end
return redis.call('PEXPIRE', claim, ms)
