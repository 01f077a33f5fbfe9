--[==[
  Puts times of a rule's schedule on the list of missed ones while the time after them is not dealt with: see `schedule`.
  Times that are dealt with are left out.

  KEYS[1] the realm
  ARGV[1] rule  ARGV[2] JSON of the missed times
]==]
--- @include "record"
--- @include "schedule"
local T, rule, missedJson = KEYS[1], ARGV[1], ARGV[2]
local last = redis.call('HGET', T .. ':rules:last', rule)
keepMissed(T, rule, cjson.decode(missedJson), last and cjson.decode(last).at or 0)
return 'ok'
