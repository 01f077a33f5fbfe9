--[==[
  A person takes missed times off a rule's list, because they are let go or a batch makes them up. Who did it and why stays
  with what became of the time.

  KEYS[1] the realm
  ARGV[1] rule  ARGV[2] JSON {who, at, why, batch}  ARGV[3]… the times

  Returns the times that were on the list (the same when asked again)
]==]
--- @include "record"
--- @include "schedule"
local T, rule, by, times = KEYS[1], ARGV[1], ARGV[2], ARGV
local key, past = T .. ':rules:missed:' .. rule, T .. ':rules:past:' .. rule
local dismissed = {}
for place = 3, #times do
  local at = times[place]
  local listed = unpack(redis.call('ZRANGEBYSCORE', key, at, at))
  local known = unpack(redis.call('ZRANGEBYSCORE', past, at, at))
  if listed and dropMissed(T, rule, at) then
    local one = cjson.decode(listed)
    local json = cjson.encode({ period = one.period, message = one.why, result = 'missed' })
    putPast(T, rule, at, string.format('{"at":%s,"dismissed":%s,%s', at, by, string.sub(json, 2)))
    dismissed[#dismissed + 1] = at
  elseif string.find(known or '', '"dismissed":' .. by, 1, true) then
    dismissed[#dismissed + 1] = at
  end
end
return dismissed
