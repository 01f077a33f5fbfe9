--[[
  The last question before the first byte leaves: marks the order as sending, or says why not. Asked again
  with the same nonce it gives the same answer.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] session  ARGV[4] nonce  ARGV[5] tokens
  ARGV[6] sent at (base 36)  ARGV[7] UTC day  ARGV[8] daily cap ('' for none)  ARGV[9] '1': an unknown may be resent
  ARGV[10] JSON evidence to keep before sending ('' for none; read-back's balances)
  ARGV[11] reason JSON for a batch halted by the daily cap  ARGV[12] token of the hold ('' unless read-back)
  ARGV[13] highest sequence seen  ARGV[14] era ('' before the first)
  ARGV[15] id of the batch whose row is to be sent ('' unless known): numbers change owners after a rollback

  Returns {'go', n, attempts, tries, prior, seq, sent at (of the first attempt whose outcome is unknown)} | {'no', why}
    why: disarmed | rollback | era | halted | breaker | <batch state> | owner | state code of the order | not-due | hold | in-order | cap
]]
--- @include "record"
--- @include "move"
--- @include "hold"
--- @include "fence"
local T, no, index, session, nonce, tokens = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local B = batchKey(T, no)
local record = readRecord(T, no, index)
local fields = record and split(record) or { 'w', '1', '0', '0', '', '', '', '', '', '' }
local code = fields[1]

if code == 's' then
  if fields[6] ~= nonce then return { 'no', 's' } end
  return { 'go', fields[2], fields[3], fields[4], fields[8], redis.call('HGET', T, 'seq'), fields[7] }
end
local closed = fenced(T, ARGV[13], ARGV[14])
if closed then return { 'no', closed } end
local realm = redis.call('HMGET', T, 'halt', 'breaker')
if realm[1] then return { 'no', 'halted' } end
if realm[2] then return { 'no', 'breaker' } end
local meta = redis.call('HMGET', B, 'state', 'owner', 'inOrder', 'id')
if ARGV[15] ~= '' and meta[4] ~= ARGV[15] then return { 'no', 'gone' } end
-- An unknown of a cancelled batch must still be resolved: it cannot be cancelled.
if meta[1] ~= 'running' and not (meta[1] == 'cancelled' and code == 'u') then
  return { 'no', meta[1] or 'gone' }
end
if meta[2] ~= '' and meta[2] ~= session then return { 'no', 'owner' } end
if code ~= 'w' and not (code == 'u' and ARGV[9] == '1') then return { 'no', code } end
if not redis.call('ZSCORE', B .. ':due', index) then return { 'no', 'not-due' } end
-- The balances were read under a hold that has been given up since: they prove nothing any more.
if ARGV[12] ~= '' and holdToken(T, no, index) ~= ARGV[12] then return { 'no', 'hold' } end
if meta[3] == '1' then
  local others = countOf(T, no, 's') + countOf(T, no, 'u') - (code == 'u' and 1 or 0)
  if others > 0 then return { 'no', 'in-order' } end
end

-- The day's sum counts what is sent, once an order: a resend of an unknown was counted when it first left.
if code == 'w' then
  local days = T .. ':days'
  if ARGV[8] ~= '' then
    local sum = tonumber(redis.call('HGET', days, ARGV[7]) or '0')
    if sum + tonumber(tokens) > tonumber(ARGV[8]) then
      redis.call('HSET', B, 'state', 'halted', 'reason', ARGV[11])
      standStill(T, no, nowMs())
      return { 'no', 'cap' }
    end
  end
  redis.call('HINCRBY', days, ARGV[7], tokens)
end

local attempts = tostring(tonumber(fields[3]) + 1)
local prior = code == 'u' and 'u' or ''
-- The life of a key counts from the first attempt that nobody can speak for.
local sent = prior == 'u' and fields[7] ~= '' and fields[7] or ARGV[6]
writeRecord(T, no, index, table.concat(
  { 's', fields[2], attempts, fields[4], session, nonce, sent, prior, fields[5], fields[10] or '' }, '|'))
if ARGV[10] ~= '' then redis.call('RPUSH', B .. ':x:' .. index, ARGV[10]) end
local seq = move(T, no, index, code, 's', tokens)
return { 'go', fields[2], attempts, fields[4], prior, seq, sent }
