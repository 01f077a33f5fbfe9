--[==[
  Ends a claim.

  KEYS[1] the claim
  ARGV[1] its owner

  Returns 1, or 0 where the claim is another's
]==]
local claim, owner = KEYS[1], ARGV[1]
if redis.call('GET', claim) ~= owner then return 0 end
return redis.call('DEL', claim)
