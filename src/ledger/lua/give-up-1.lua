--[[
  A session's journal is lost for good: whatever it may have sent becomes a doubt. The store may have
  forgotten any number of its moves, so nothing that is planned, waiting or unknown in an open batch is
  certain any more; what other sessions are sending is theirs to settle.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] the lost session  ARGV[3] detail JSON
  ARGV[4…] index, tokens, members under read-back (joined by blanks, '' otherwise), index, tokens, …

  Returns {how many became doubts, their sum}
]]
--- @include "record"
--- @include "row"
--- @include "move"
--- @include "hold"
--- @include "day"
local T, no, session = KEYS[1], ARGV[1], ARGV[2]
local B = batchKey(T, no)
local cancelled = isCancelled(T, no)
local rows = redis.call('HGET', B, 'rows')
local now = nowMs()
local doubts, sum = 0, 0
for i = 4, #ARGV, 3 do
  local index, tokens = ARGV[i], ARGV[i + 1]
  local old = isRow(rows, index) and readRecord(T, no, index)
  local was = old and split(old) or { 'w', '1', '0', '0', '', '', '', '', '', '' }
  local code = was[1]
  if isRow(rows, index) and (code == 'w' or code == 'u' or (code == 's' and was[5] == session)) then
    -- Nobody knows when it may have been sent: by now at the latest, and it counts for that day.
    if was[7] == '' then was[7] = base36(now) end
    writeRecord(T, no, index, unanswered('D', was, now))
    move(T, no, index, stateOf(old, cancelled), 'D', tokens)
    redis.call('ZREM', B .. ':due', index)
    redis.call('HDEL', B .. ':g', index)
    redis.call('HDEL', B .. ':waiting', index)
    redis.call('RPUSH', B .. ':x:' .. index, ARGV[3])
    if code == 'w' then bump(T .. ':days', utcDay(tonumber(was[7], 36)), tokens) end
    voidMembers(T, words(ARGV[i + 2]), now + settleMs(T))
    releaseHolds(T, no, index, now)
    doubts = doubts + 1
    sum = sum + tonumber(tokens)
  end
end
finishIfDone(T, no)
return { doubts, string.format('%.0f', sum) }
