--[[
  Ends an unknown or a doubt by evidence: read-back (from unknown) or an operator (from doubt; or an unknown that
  stands still becomes a doubt). The detail carries the call's nonce: asked again, it is the same conclusion. A
  doubt never goes back to work by this; it ends, and a person may retry it once its request cannot arrive any more.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] index  ARGV[3] state it must be in: 'u' or 'D'  ARGV[4] new state code: P, X, w or D
  ARGV[5] tokens  ARGV[6] evidence code  ARGV[7] detail JSON
  ARGV[8] due at, ms from now (for w)  ARGV[9] audit JSON ('' for none)
  ARGV[10] JSON {ref: [shard, hex]|null, undoes: [shard, hex, no, index, account]|null, balance: '', tries: n|null,
    settleMs: for how long after its last attempt a request may arrive (where a person's word ends it)|null}
  ARGV[11] era in which the evidence was read ('' for an operator): after another arming, or on a member that is
    marked void, it proves nothing
  ARGV[12] the batch's id ('' where the era tells)

  Returns {'ok', batch state, next orders JSON} | {'stale', state code}
]]
--- @include "record"
--- @include "move"
--- @include "reference"
--- @include "hold"
--- @include "fence"
--- @include "day"
local T, no, index, from, to, tokens = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local B = batchKey(T, no)
if ARGV[12] ~= '' and not isBatch(T, no, ARGV[12]) then return { 'stale', 'p' } end
local record = readRecord(T, no, index)
if not record then return { 'stale', 'p' } end
local fields = split(record)
if fields[1] ~= from or (from == 'D' and to == 'w') then
  if alreadyNoted(T, no, index, ARGV[7]) then return { 'ok', redis.call('HGET', B, 'state'), '[]' } end
  return { 'stale', fields[1] }
end
if ARGV[11] ~= '' and fenced(T, '0', ARGV[11], '') then return { 'stale', from } end
if ARGV[11] ~= '' and to ~= 'D' and isVoid(T, no, index) then return { 'stale', from } end
local facts = cjson.decode(ARGV[10])
local now = nowMs()

if to == 'w' and isCancelled(T, no) then to = 'c' end
fields[1] = to
fields[9] = ARGV[6]
if facts.balance ~= '' then fields[6] = facts.balance end
-- JSON's null arrives as a value that counts as true.
if type(facts.tries) == 'number' then fields[4] = tostring(facts.tries) end
local arrives = false
if to == 'X' and type(facts.settleMs) == 'number' then
  -- When it was sent nobody knows of some: just now, for all that is known.
  local sent = tonumber(fields[7], 36)
  local last = sent and sent + (tonumber(fields[8], 36) or 0) or now
  local untilMs = math.max(last + facts.settleMs, steppedUntil(T))
  arrives = untilMs > now
  if arrives then fields[10] = string.format('a%.0f', untilMs) .. (fields[10] or '') end
end
writeRecord(T, no, index, table.concat(fields, '|'))
move(T, no, index, from, to, tokens)
redis.call('RPUSH', B .. ':x:' .. index, ARGV[7])
if ARGV[9] ~= '' then redis.call('RPUSH', B .. ':log', ARGV[9]) end

if to == 'w' then
  redis.call('ZADD', B .. ':due', now + tonumber(ARGV[8]), index)
else
  undispatch(T, no, index)
end
if to == 'w' or to == 'X' or to == 'c' then bump(T .. ':days', dayOf(fields, now), '-' .. tokens) end
if (to == 'X' or to == 'c') and not arrives and type(facts.ref) == 'table' then
  releaseReference(T, facts.ref[1], unhex(facts.ref[2]), no, index)
end
if to == 'P' then freeUndone(T, facts.undoes, tokens) end
if to == 'D' then voidHeld(T, no, index, now) end
local handed = releaseHolds(T, no, index, now)
return { 'ok', finishIfDone(T, no) or '', cjson.encode(handed) }
