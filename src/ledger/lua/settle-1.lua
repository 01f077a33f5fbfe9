--[[
  Takes the result of an attempt: moves the order from sending to what the result means. Only the attempt
  that holds the nonce can do it. A repeated call changes nothing and gets its answer again, but for the
  orders handed over, which are due anyway; a late one is told what stands.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] nonce  ARGV[4] tokens  ARGV[5] new record
  ARGV[6] due at, ms from now ('' unless waiting or unknown)  ARGV[7] UTC day it was sent
  ARGV[8] detail JSON to append ('' for an order paid at its first attempt)
  ARGV[9] JSON {
    requests, retries, limited,              counters to add
    latency: bucket, slice: n,               where the attempt is counted in histogram and chart
    ref: [shard, field hex] | null           the order's own reference, released when it ends unpaid
    undoes: [shard, field hex, no, index] | null   the reference that a paid undo frees
    class: error code or ''                  for the breaker
    haltRealm: reason JSON | null, refusals: {reason, inARow, beforePaid}, unknowns: n
  }

  Returns {'ok', state code, batch state, seq, next orders JSON, breaker opened '1'|''} | {'stale', record or ''}
]]
--- @include "record"
--- @include "move"
--- @include "reference"
--- @include "hold"
local T, no, index, nonce, tokens, new = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local B = batchKey(T, no)
local old = readRecord(T, no, index)
if not old then return { 'stale', '' } end
local was = split(old)
if was[1] ~= 's' or was[6] ~= nonce then
  -- Attempts are counted: only this very attempt can have left this very record.
  if string.sub(old, 2) ~= string.sub(new, 2) then return { 'stale', old } end
  return { 'ok', was[1], redis.call('HGET', B, 'state'), redis.call('HGET', T, 'seq'), '[]', '' }
end

local facts = cjson.decode(ARGV[9])
local now = nowMs()
local code = string.sub(new, 1, 1)
if code == 'w' and isCancelled(T, no) then
  code = 'c'
  new = 'c' .. string.sub(new, 2)
end
writeRecord(T, no, index, new)
local seq = move(T, no, index, 's', code, tokens)

if code == 'w' or code == 'u' then
  redis.call('ZADD', B .. ':due', now + tonumber(ARGV[6]), index)
else
  redis.call('ZREM', B .. ':due', index)
  redis.call('HDEL', B .. ':g', index)
end
if ARGV[8] ~= '' then
  redis.call('RPUSH', B .. ':x:' .. index, ARGV[8])
  redis.call('LTRIM', B .. ':x:' .. index, -50, -1)
end

-- Definitely not applied: the day's sum gets it back, and at its end the reference is free.
if code == 'w' or code == 'R' or code == 'X' or code == 'c' then
  redis.call('HINCRBY', T .. ':days', ARGV[7], '-' .. tokens)
end
if (code == 'R' or code == 'X' or code == 'c') and type(facts.ref) == 'table' then
  releaseReference(T, facts.ref[1], unhex(facts.ref[2]), no, index)
end
if code == 'P' and type(facts.undoes) == 'table' then
  releaseReference(T, facts.undoes[1], unhex(facts.undoes[2]), facts.undoes[3], facts.undoes[4])
end

local handed = {}
if code ~= 'u' then handed = releaseHolds(T, no, index, now) end

redis.call('HINCRBY', B, 'requests', facts.requests)
if facts.retries > 0 then redis.call('HINCRBY', B, 'retries', facts.retries) end
if facts.limited > 0 then redis.call('HINCRBY', B, 'limited', facts.limited) end
redis.call('HINCRBY', B .. ':lat', facts.latency, 1)
-- Over the realm's whole life, for the metrics; '-' where no answer came.
local status = split(new)[5]
redis.call('HINCRBY', T .. ':statuses', status == '' and '-' or status, 1)
redis.call('HINCRBY', B .. ':run', facts.slice .. ':q', facts.requests)
if code == 'P' then redis.call('HINCRBY', B .. ':run', facts.slice .. ':p', 1) end
if code == 'R' or code == 'X' or code == 'D' then redis.call('HINCRBY', B .. ':run', facts.slice .. ':f', 1) end
if facts.limited > 0 then redis.call('HINCRBY', B .. ':run', facts.slice .. ':l', facts.limited) end

-- The breakers. Refusals of one class in a row speak of this file or of a wrong address; unknowns with no
-- definite answer between them speak of the realm.
local opened = ''
if type(facts.haltRealm) == 'string' then redis.call('HSETNX', T, 'halt', facts.haltRealm) end
if code == 'P' then
  redis.call('HDEL', T, 'unknowns')
  redis.call('HDEL', B, 'refusals', 'refusalClass')
elseif code == 'R' then
  redis.call('HDEL', T, 'unknowns')
  if redis.call('HGET', B, 'refusalClass') ~= facts.class then
    redis.call('HSET', B, 'refusalClass', facts.class, 'refusals', 0)
  end
  local inARow = redis.call('HINCRBY', B, 'refusals', 1)
  local limit = countOf(T, no, 'P') == 0 and facts.refusals.beforePaid or facts.refusals.inARow
  if inARow >= limit and countOf(T, no, 'p') > 0 and redis.call('HGET', B, 'state') == 'running' then
    redis.call('HSET', B, 'state', 'halted', 'reason', facts.refusals.reason)
    standStill(T, no, now)
    redis.call('HDEL', B, 'refusals', 'refusalClass')
  end
elseif code == 'u' or code == 'D' then
  local unknowns = redis.call('HINCRBY', T, 'unknowns', 1)
  if unknowns >= facts.unknowns and redis.call('HSETNX', T, 'breaker', now) == 1 then opened = '1' end
end

return { 'ok', code, finishIfDone(T, no) or '', seq, cjson.encode(handed), opened }
