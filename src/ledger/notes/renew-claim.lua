--[==[
  Makes a claim last longer.

  KEYS[1] the claim
  ARGV[1] its owner  ARGV[2] ms from now on

  Returns 1, or 0 where the claim is another's
]==]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
