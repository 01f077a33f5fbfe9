--[[
  Merges one attempt of a journal into the ledger. Attempts that were journaled are counted and never go back,
  so they tell who knows more: a ledger that is behind takes the journal's state, with counters, day's sum,
  references and holds; one that stands at this very attempt is settled by it; one that is ahead stays as it
  is. An attempt of the same number that is merely being sent is one that no journal knows, begun in a past
  that a restored store brought back: it never left. And paid is paid, whatever the ledger says.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] batch id  ARGV[3] index  ARGV[4] nonce  ARGV[5] attempts  ARGV[6] tokens
  ARGV[7] new record, ending with '|': settled; u or D for an intent without result; s while it is under way
  ARGV[8] due at, ms from now  ARGV[9] UTC day it was sent  ARGV[10] detail JSON ('' for none)
  ARGV[11] JSON {ref: [shard, hex, digest]|null, undoes: [shard, hex, no, index]|null,
    members: [...] to hold while it is sent or unknown, requests, retries, limited}

  Returns {'ok', state code, next orders JSON} | {'ahead', state code} | {'gone'} (no such batch here)
]]
--- @include "record"
--- @include "row"
--- @include "move"
--- @include "reference"
--- @include "hold"
local T, no, index, nonce, tokens = KEYS[1], ARGV[1], ARGV[3], ARGV[4], ARGV[6]
local B = batchKey(T, no)
local meta = redis.call('HMGET', B, 'id', 'state', 'rows')
-- After a rollback the same number may have gone to another file.
if meta[1] ~= ARGV[2] or meta[2] == 'importing' then return { 'gone' } end
if meta[2] == 'archived' then return { 'ahead', 'P' } end
if not isRow(meta[3], index) then return { 'gone' } end

local old = readRecord(T, no, index)
local was = old and split(old) or { 'w', '1', '0', '0', '', '', '', '', '', '' }
local from = stateOf(old, meta[2] == 'cancelled')
local new, code = ARGV[7], string.sub(ARGV[7], 1, 1)
local known = was[1] == 's' and was[6] == nonce
if known then
  if code == 's' then return { 'ahead', 's' } end
else
  local ahead = tonumber(was[3]) - tonumber(ARGV[5])
  if was[1] == 'P' or was[1] == 'd' or was[1] == 'i' then return { 'ahead', was[1] } end
  if code ~= 'P' and (ahead > 0 or (ahead == 0 and was[1] ~= 's')) then return { 'ahead', was[1] } end
end

local facts = cjson.decode(ARGV[11])
-- It moved its members, and the ledger did not know: what was read of them before proves nothing, for
-- whichever order it was read, and nobody knows what they should have now.
if not known then
  for _, member in ipairs(facts.members) do redis.call('HSET', T .. ':expected', member, '?') end
end
local now = nowMs()
if code == 'w' and meta[2] == 'cancelled' then code = 'c' end

-- What is sent or unknown holds its members. Where another order holds one by now, nothing read proves anything.
local holds = code == 's' or code == 'u'
redis.call('HDEL', B .. ':waiting', index)
if holds and #facts.members > 0 and not holdToken(T, no, index) then
  if not firstHeld(T, facts.members) then
    takeHolds(T, no, index, facts.members)
  elseif code == 'u' then
    code = 'D'
    holds = false
  end
end

writeRecord(T, no, index, code .. string.sub(new, 2) .. (was[10] or ''))
if meta[2] == 'planned' then
  redis.call('HSET', B, 'state', 'running')
  redis.call('HSETNX', B, 'startedAt', now)
end
move(T, no, index, from, code, tokens)

if code == 'w' or code == 'u' or code == 's' then
  redis.call('ZADD', B .. ':due', now + tonumber(ARGV[8]), index)
else
  redis.call('ZREM', B .. ':due', index)
  redis.call('HDEL', B .. ':g', index)
end
if ARGV[10] ~= '' then
  redis.call('RPUSH', B .. ':x:' .. index, ARGV[10])
  redis.call('LTRIM', B .. ':x:' .. index, -50, -1)
end

-- The day's sum holds what may have been applied.
local COUNTS = { s = true, u = true, D = true, P = true }
if COUNTS[code] and not COUNTS[from] then
  redis.call('HINCRBY', T .. ':days', ARGV[9], tokens)
elseif COUNTS[from] and not COUNTS[code] then
  redis.call('HINCRBY', T .. ':days', ARGV[9], '-' .. tokens)
end
if type(facts.ref) == 'table' then
  local shard, field = facts.ref[1], unhex(facts.ref[2])
  if code == 'R' or code == 'X' or code == 'c' then
    releaseReference(T, shard, field, no, index)
  elseif not spentBy(T, shard, field, no, index) then
    takeReference(T, shard, field, facts.ref[3], no, index)
  end
end
if code == 'P' and type(facts.undoes) == 'table' then
  releaseReference(T, facts.undoes[1], unhex(facts.undoes[2]), facts.undoes[3], facts.undoes[4])
end
local handed = {}
if not holds then handed = releaseHolds(T, no, index, now) end

if facts.requests > 0 then redis.call('HINCRBY', B, 'requests', facts.requests) end
if facts.retries > 0 then redis.call('HINCRBY', B, 'retries', facts.retries) end
if facts.limited > 0 then redis.call('HINCRBY', B, 'limited', facts.limited) end
finishIfDone(T, no)
return { 'ok', code, cjson.encode(handed) }
