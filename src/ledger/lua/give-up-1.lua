--[[
  A session's journal is lost for good: whatever it may have sent becomes a doubt. The store may have
  forgotten any number of its moves, so nothing that is planned, waiting or unknown in an open batch is
  certain any more; what other sessions are sending is theirs to settle.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] the lost session  ARGV[3] detail JSON  ARGV[4] UTC day
  ARGV[5…] index, tokens, index, tokens, …

  Returns how many became doubts
]]
--- @include "record"
--- @include "row"
--- @include "move"
--- @include "hold"
local T, no, session = KEYS[1], ARGV[1], ARGV[2]
local B = batchKey(T, no)
local cancelled = isCancelled(T, no)
local rows = redis.call('HGET', B, 'rows')
local now = nowMs()
local doubts = 0
for i = 5, #ARGV, 2 do
  local index, tokens = ARGV[i], ARGV[i + 1]
  local old = isRow(rows, index) and readRecord(T, no, index)
  local was = old and split(old) or { 'w', '1', '0', '0', '', '', '', '', '', '' }
  local code = was[1]
  if isRow(rows, index) and (code == 'w' or code == 'u' or (code == 's' and was[5] == session)) then
    writeRecord(T, no, index, table.concat(
      { 'D', was[2], was[3], was[4], '', '', was[7], '', '', was[10] or '' }, '|'))
    move(T, no, index, stateOf(old, cancelled), 'D', tokens)
    redis.call('ZREM', B .. ':due', index)
    redis.call('HDEL', B .. ':g', index)
    redis.call('HDEL', B .. ':waiting', index)
    redis.call('RPUSH', B .. ':x:' .. index, ARGV[3])
    if code == 'w' then redis.call('HINCRBY', T .. ':days', ARGV[4], tokens) end
    releaseHolds(T, no, index, now)
    doubts = doubts + 1
  end
end
finishIfDone(T, no)
return doubts
