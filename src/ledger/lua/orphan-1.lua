--[[
  An order that a dead session was sending becomes unknown: nobody can say whether it was applied. Where the
  session's journal proves that it never came to sending it, it goes back to where it was.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] the dead session  ARGV[4] tokens  ARGV[5] detail JSON
  ARGV[6] 'u' unknown | 'D' straight to doubt (certainty manual) | 'w' never sent  ARGV[7] UTC day it was counted for

  Returns {'ok'} | {'stale'}
]]
--- @include "record"
--- @include "move"
--- @include "hold"
local T, no, index, session, tokens = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local B = batchKey(T, no)
local old = readRecord(T, no, index)
if not old then return { 'stale' } end
local was = split(old)
if was[1] ~= 's' or was[5] ~= session then
  return { alreadyNoted(T, no, index, ARGV[5]) and 'ok' or 'stale' }
end

local code = ARGV[6]
-- Only attempts that a journal knows are counted: the number tells which of two pasts has seen more.
local attempts = code == 'w' and tostring(tonumber(was[3]) - 1) or was[3]
-- A resend that never left: what it was to resend is as unknown as before.
if code == 'w' and was[8] == 'u' then code = 'u' end
if code == 'w' then redis.call('HINCRBY', T .. ':days', ARGV[7], '-' .. tokens) end
if code == 'w' and isCancelled(T, no) then code = 'c' end
local now = nowMs()
writeRecord(T, no, index, table.concat(
  { code, was[2], attempts, was[4], '', '', was[7], '', '', was[10] or '' }, '|'))
move(T, no, index, 's', code, tokens)
redis.call('RPUSH', B .. ':x:' .. index, ARGV[5])
if code == 'u' or code == 'w' then
  redis.call('ZADD', B .. ':due', now, index)
else
  redis.call('ZREM', B .. ':due', index)
  redis.call('HDEL', B .. ':g', index)
end
if code ~= 'u' then releaseHolds(T, no, index, now) end
finishIfDone(T, no)
return { 'ok' }
