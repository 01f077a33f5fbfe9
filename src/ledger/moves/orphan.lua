--[==[
  An order that a dead session was sending becomes unknown: nobody can say whether it was applied. Where the
  session's journal proves that it never came to sending it, it goes back to where it was.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] the dead session  ARGV[4] amount (see totals)  ARGV[5] detail JSON
  ARGV[6] 'u' unknown | 'D' straight to doubt (certainty manual) | 'w' never sent
  ARGV[7] the store for which its journal was merged (see `isSameStore`)
  ARGV[8] the nonce of the attempt that was found

  Returns {'ok'} | {'stale'}
]==]
--- @include "record"
--- @include "move"
--- @include "hold"
--- @include "fence"
--- @include "orphan"
local T, no, index, session, amount, detail, code = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local store, nonce = ARGV[7], ARGV[8]
local tokens = totals.parse(amount)
local old = readRecord(T, no, index)
local was = old and decodeRecord(old) or { state = 'p' }
if was.state ~= 's' or was.session ~= session then
  return { alreadyNoted(T, no, index, detail) and 'ok' or 'stale' }
end
-- The session lives and has begun the order anew since it was looked at: that attempt may be on its way.
if was.nonce ~= nonce then return { 'stale' } end
if not isSameStore(T, store) then return { 'stale' } end
local now = nowMs()
if code ~= 'w' then
  local isMoved = orphanOrder(T, no, index, session, nonce, amount, detail, code, now)
  batches.flush(T)
  return { isMoved and 'ok' or 'stale' }
end

local B = batchKey(T, no)
-- A resend that never left: what it was to resend is as unknown as before.
local took = string.match(was.prior, '^u(.*)$')
if took then
  code = 'u'
else
  bump(T .. ':days', dayOf(was, now), '-' .. tokens)
  if isCancelled(T, no) then code = 'c' end
  if code == 'w' and isPutBack(T, no, index, nonce) then code = 'X' end
end
-- Only attempts that a journal knows are counted: the number tells which of two pasts has seen more.
local new = { state = code, key = was.key, attempts = tostring(tonumber(was.attempts) - 1), tries = was.tries,
  sent = took and was.sent or '', took = took or '', marks = was.marks, nonce = '', doubt = was.doubt }
writeRecord(T, no, index, encodeRecord(new))
move(T, no, index, { from = 's', to = code, amount = amount, before = was, after = new })
redis.call('RPUSH', B .. ':x:' .. index, detail)
if code == 'c' or code == 'X' then
  undispatch(T, no, index)
else
  redis.call('ZADD', B .. ':due', now, index)
end
if code ~= 'u' then releaseHolds(T, no, index, now) end
finishIfDone(T, no)
batches.flush(T)
return { 'ok' }
