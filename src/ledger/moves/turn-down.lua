--[==[
  A member of an order could not be read, so nothing was sent (or, from unknown, nothing was found out). An
  order that was not sent is put off or ends; an unknown is only put off: no read ends it but by a doubt.
  The detail carries the call's nonce: asked again, it is the same move.

  KEYS[1] the realm
  ARGV[1] highest sequence seen  ARGV[2] era ('' before the first)
  ARGV[3] batch no  ARGV[4] index  ARGV[5] amount (see totals)  ARGV[6] state it must be in: 'w' or 'u'
  ARGV[7] new state code: w, R or X from w; u or D from u
  ARGV[8] token of the hold under which it was read (from w), or nonce of the unknown attempt (from u)  ARGV[9] due at, ms from now (for w and u)
  ARGV[10] detail JSON ('' for none)
  ARGV[11] JSON {batch: id, tries, status: '', evidence: '', slice, ref: {shard, fieldHex}|null, class,
    silent: true where the realm gave no definite answer, unknowns: n, refusals: {reason, inARow, beforePaid}}

  Returns {'ok', state code, seq, next orders JSON}; D is only allowed by it, the evidence concludes it
    | {'stale', state code}
]==]
--- @include "record"
--- @include "move"
--- @include "reference"
--- @include "hold"
--- @include "breaker"
--- @include "fence"
local T, seen, era, no, index, amount, from, to = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local readUnder, dueIn, detail, factsJson = ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local B = batchKey(T, no)
local record = readRecord(T, no, index)
local fields = record and decodeRecord(record) or blankFields()
local function seq() return redis.call('HGET', T, 'seq') or '0' end
if detail ~= '' and alreadyNoted(T, no, index, detail) then return { 'ok', fields.state, seq(), '[]' } end
local facts = cjson.decode(factsJson)
if not isBatch(T, no, facts.batch) then return { 'stale', 'p' } end
if fields.state ~= from or fenced(T, seen, era) then return { 'stale', fields.state } end
-- An order that was cancelled meanwhile holds nothing: no token, not even an empty one, speaks for it.
local own = lastNonce(fields)
if from == 'w' then own = holdToken(T, no, index) end
if own ~= readUnder then return { 'stale', from } end
local now = nowMs()

-- Silence speaks of the realm while nothing else is heard of it either. So, before it ends an order, the
-- breaker asks; and while the breaker is open, silence is held against nobody.
local ends = to ~= from
if facts.silent then
  noteUnknown(T, ends and math.min(facts.unknowns, facts.tries) or facts.unknowns, now)
  if ends and redis.call('HEXISTS', T, 'breaker') == 1 then to, detail = from, '' end
end
if to == 'D' then return { 'ok', to, seq(), '[]' } end

if from == 'w' and (to ~= 'w' or facts.tries ~= tonumber(fields.tries)) then
  fields.state, fields.tries, fields.status, fields.evidence = to, tostring(facts.tries), facts.status, facts.evidence
  writeRecord(T, no, index, encodeRecord(fields))
  move(T, no, index, { from = from, to = to, amount = amount, before = fields, after = fields })
end
if detail ~= '' then noteDetail(T, no, index, detail) end
if to == from then
  redis.call('ZADD', B .. ':due', now + tonumber(dueIn), index)
  batches.touch(no)
else
  undispatch(T, no, index)
  bump(B .. ':run', facts.slice .. ':f', 1)
  if type(facts.ref) == 'table' then releaseReference(T, facts.ref.shard, unhex(facts.ref.fieldHex), no, index) end
  if not facts.silent then forgetUnknowns(T) end
end
local handed = from == 'w' and releaseHolds(T, no, index, now) or {}
if to ~= from then noteRefusal(T, no, facts.class, facts.refusals, now) end
finishIfDone(T, no)
batches.flush(T)
return { 'ok', to, seq(), cjson.encode(handed) }
