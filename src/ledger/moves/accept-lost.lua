--[==[
  An operator says that a session is gone for good. From here on it begins nothing more, and exactly what it was
  sending becomes unknown, as long as the store has forgotten nothing since the session joined it. Where it may
  have, which of the others were sent is not known either, and this is not enough.

  KEYS[1] the realm
  ARGV[1] session  ARGV[2] note JSON: who, when  ARGV[3] JSON list of orders: [no, index, amount, detail JSON, 'u' | 'D', nonce]

  Returns {'exactly', place in the list of each that became unknown, …} | {'wide'} | {'gone'}
]==]
--- @include "record"
--- @include "move"
--- @include "hold"
--- @include "orphan"
--- @include "fence"
local T, session, note, ordersJson = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', T .. ':sessions', session) == 0 then return { 'gone' } end
redis.call('HSET', T .. ':lost', session, note)
local armed, era = unpack(redis.call('HMGET', T, 'armed', 'era'))
local run = serverRun()
if run == 'unproven' or armed ~= run then return { 'wide' } end
if redis.call('HGET', T .. ':joined', session) ~= run .. ' ' .. (era or '') then return { 'wide' } end
local now, reply = nowMs(), { 'exactly' }
for place, order in ipairs(cjson.decode(ordersJson)) do
  local no, index, amount, detail, code, nonce = unpack(order, 1, 6)
  if orphanOrder(T, no, index, session, nonce, amount, detail, code, now) then reply[#reply + 1] = tostring(place) end
end
batches.flush(T)
return reply
