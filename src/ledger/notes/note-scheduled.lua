--[==[
  Notes what became of a time of a rule's schedule for which no batch was sealed: see `schedule` and seal-batch.

  KEYS[1] the realm
  ARGV[1] rule  ARGV[2] JSON of what became of it  ARGV[3] JSON of the missed times that it passed over, or null

  Returns 'ok' (also when asked again) | 'no' (that time was dealt with meanwhile, or has not come)
]==]
--- @include "record"
--- @include "schedule"
local T, rule, outcome, missedJson = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
return noteScheduled(T, rule, outcome, cjson.decode(missedJson)) and 'ok' or 'no'
