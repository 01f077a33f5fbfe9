--[[
  The last question before the first byte leaves, for a list of orders: marks each as sending, or says why
  not. Asked again with the same nonce it gives the same answer.

  KEYS[1] the realm
  ARGV[1] highest sequence seen  ARGV[2] era ('' before the first)
  ARGV[3] JSON list of orders, each a list of strings:
     1 batch no  2 index  3 session  4 nonce  5 tokens  6 sent at (base 36)  7 UTC day
     8 daily cap ('' for none)  9 reason JSON for a batch halted by it
    10 '1': an unknown may be resent  11 JSON evidence to keep before sending ('' for none; read-back's balances)
    12 token of the hold ('' unless read-back)
    13 id of the batch whose row is to be sent ('' unless known): numbers change owners after a rollback

  Returns a JSON list, for each order
    ['go', n, attempts, tries, prior, seq, sent at (of the first attempt whose outcome is unknown)] | ['no', why] | ['no', 'early', ms until it is due] | ['error', message]
    why: disarmed | rollback | era | halted | breaker | <batch state> | owner | state code of the order | not-due | hold | in-order | cap
]]
--- @include "record"
--- @include "tally"
--- @include "move"
--- @include "hold"
--- @include "fence"
--- @include "each"
local T = KEYS[1]
local now = nowMs()

--- What holds for all orders of this call is asked once.
local shut
local function shutFor()
  if shut == nil then
    shut = fenced(T, ARGV[1], ARGV[2]) or false
    local realm = redis.call('HMGET', T, 'halt', 'breaker')
    if not shut and realm[1] then shut = 'halted' end
    if not shut and realm[2] then shut = 'breaker' end
  end
  return shut
end

local metas = {}
local function metaOf(B, no)
  local meta = metas[no]
  if not meta then
    meta = redis.call('HMGET', B, 'state', 'owner', 'inOrder', 'id')
    metas[no] = meta
  end
  return meta
end

local function begin(order)
  local no, index, session, nonce, tokens, sentAt, day = unpack(order, 1, 7)
  local cap, capReason, mayResend, evidence, hold, batch = unpack(order, 8, 13)
  local B = batchKey(T, no)
  local record = readRecord(T, no, index)
  local fields = record and split(record) or { 'w', '1', '0', '0', '', '', '', '', '', '' }
  local code = fields[1]

  if code == 's' then
    if fields[6] ~= nonce then return { 'no', 's' } end
    return { 'go', fields[2], fields[3], fields[4], fields[8], redis.call('HGET', T, 'seq') or '0', fields[7] }
  end
  local closed = shutFor()
  if closed then return { 'no', closed } end
  local meta = metaOf(B, no)
  if batch ~= '' and meta[4] ~= batch then return { 'no', 'gone' } end
  -- An unknown of a cancelled batch must still be resolved: it cannot be cancelled.
  if meta[1] ~= 'running' and not (meta[1] == 'cancelled' and code == 'u') then
    return { 'no', meta[1] or 'gone' }
  end
  if meta[2] ~= '' and meta[2] ~= session then return { 'no', 'owner' } end
  if code ~= 'w' and not (code == 'u' and mayResend == '1') then return { 'no', code } end
  local due = redis.call('ZSCORE', B .. ':due', index)
  if not due then return { 'no', 'not-due' } end
  local early = tonumber(due) - now
  if isPause(early) then return { 'no', 'early', string.format('%.0f', early) } end
  -- The balances were read under a hold that has been given up since: they prove nothing any more.
  if hold ~= '' and holdToken(T, no, index) ~= hold then return { 'no', 'hold' } end
  if meta[3] == '1' then
    local others = countOf(T, no, 's') + countOf(T, no, 'u') - (code == 'u' and 1 or 0)
    if others > 0 then return { 'no', 'in-order' } end
  end
  -- The day's sum counts what is sent, once an order: a resend of an unknown was counted when it first left.
  local days = T .. ':days'
  if code == 'w' and cap ~= '' and counter(days, day) + tonumber(tokens) > tonumber(cap) then
    redis.call('HSET', B, 'state', 'halted', 'reason', capReason)
    metas[no] = nil
    standStill(T, no, now)
    return { 'no', 'cap' }
  end

  local attempts = tostring(tonumber(fields[3]) + 1)
  local prior = code == 'u' and 'u' or ''
  -- The life of a key counts from the first attempt that nobody can speak for.
  local sent = prior == 'u' and fields[7] ~= '' and fields[7] or sentAt
  writeRecord(T, no, index, table.concat(
    { 's', fields[2], attempts, fields[4], session, nonce, sent, prior, fields[5], fields[10] or '' }, '|'))
  if code == 'w' then bump(days, day, tokens) end
  if evidence ~= '' then redis.call('RPUSH', B .. ':x:' .. index, evidence) end
  -- Until it is paid, nobody knows what its members should have.
  if hold ~= '' then forgetExpected(T, no, index) end
  local seq = move(T, no, index, code, 's', tokens)
  return { 'go', fields[2], attempts, fields[4], prior, seq, sent }
end

local replies = each(ARGV[3], begin)
writeTally()
return replies
