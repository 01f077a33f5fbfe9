--[==[
  Keeps an attempt that a journal knows, of a batch that the ledger does not have, under the batch's id. In one step
  with the mark that tells whether more may have been sent of it than any journal knows.

  KEYS[1] the realm
  ARGV[1] batch id  ARGV[2] nonce of the attempt  ARGV[3] the attempt

  Returns 'ok'
]==]
local T = KEYS[1]
local parked = T .. ':parked:' .. ARGV[1]
-- One that is known with its result is not forgotten for one without.
local known = redis.call('HGET', parked, ARGV[2])
if not known or cjson.decode(ARGV[3]).result ~= cjson.null then redis.call('HSET', parked, ARGV[2], ARGV[3]) end
redis.call('HSETNX', T .. ':parked', ARGV[1], redis.call('HEXISTS', T, 'gap') == 1 and 'incomplete' or '1')
return 'ok'
