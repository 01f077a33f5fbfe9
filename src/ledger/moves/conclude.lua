-- Ends an unknown or a doubt by evidence. Read-back ends an unknown; a person ends a doubt, or turns a stuck
-- unknown into a doubt. A conclusion applies only while the order holds the attempt, the hold and the epoch, or the
-- doubt, for which it was drawn: a worker that was cut off meanwhile concludes nothing about a later attempt.
-- The detail carries the call's nonce: a repeated call is the same conclusion. A doubt never goes back to work by this
-- script; it ends, and a person may retry the order once its request can no longer arrive.
--
-- KEYS[1] the realm
-- ARGV[1] batch no  ARGV[2] index  ARGV[3] new state code: P, X, w or D
-- ARGV[4] JSON of what the conclusion is about: {batch: id,
--     attempt: nonce of the unknown attempt, '' where the record names none, hold: token of the hold under which the
--     members were read ('' where nothing was read), era: epoch of the reading ('' for a person)}
--   or {batch: id, doubt: number of the doubt}
-- ARGV[5] amount (see totals)  ARGV[6] evidence code  ARGV[7] detail JSON
-- ARGV[8] due at, ms from now (for w)  ARGV[9] audit JSON ('' for none)
-- ARGV[10] JSON {ref: {shard, fieldHex}|null, undoes: [shard, hex, no, index, account]|null,
--   balance: '', tries: n|null,
--   settleMs: for how long after its last attempt a request may arrive (where a person says unpaid)|null}
--
-- Returns {'ok', batch state, next orders JSON} | {'stale', state code}
--- @include "record"
--- @include "move"
--- @include "reference"
--- @include "hold"
--- @include "fence"
--- @include "second"
--- @include "debt"
local T, no, index, to, aboutJson = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local amount, evidence, detail, dueIn, audit, factsJson = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local about = cjson.decode(aboutJson)
local tokens = totals.parse(amount)
local from = about.doubt and 'D' or 'u'
local B = batchKey(T, no)
local record = readRecord(T, no, index)
if not record or not isBatch(T, no, about.batch) then return { 'stale', 'p' } end
local fields = decodeRecord(record)
if alreadyNoted(T, no, index, detail) then return { 'ok', redis.call('HGET', B, 'state'), '[]' } end

--- Whether the order has another attempt, hold or doubt by now, or another state.
local function isOther()
  if fields.state ~= from then return true end
  if from == 'D' then return to == 'w' or (fields.doubt or '') ~= about.doubt end
  if lastNonce(fields) ~= about.attempt then return true end
  if about.hold ~= '' and holdToken(T, no, index) ~= about.hold then return true end
  if about.era == '' then return false end
  return fenced(T, '0', about.era) or (to ~= 'D' and isVoid(T, no, index))
end
if isOther() then return { 'stale', fields.state } end
local facts = cjson.decode(factsJson)
local now = nowMs()

if to == 'w' and isCancelled(T, no) then to = 'c' end
fields.state = to
fields.evidence = evidence
if to == 'P' then fields.nonce = nonceMark(lastNonce(fields)) end
if to == 'D' then numberDoubt(T, no, index, fields) end
if facts.balance ~= '' then fields.balance = facts.balance end
-- JSON's null arrives as a value that counts as true.
if type(facts.tries) == 'number' then fields.tries = tostring(facts.tries) end
local arrives = false
if to == 'X' and type(facts.settleMs) == 'number' then
  -- When it was sent nobody knows of some: just now, for all that is known.
  local sent = tonumber(fields.sent, 36)
  local last = sent and sent + (tonumber(fields.took, 36) or 0) or now
  -- The request may be that of a sender with a longer settle time than the person's.
  local settles = math.max(facts.settleMs, (longestLimits(T)))
  local untilMs = math.max(last + settles, steppedUntil(T))
  arrives = untilMs > now
  if arrives then fields.marks = string.format('a%.0f', untilMs) .. (fields.marks or '') end
end
writeRecord(T, no, index, encodeRecord(fields))
move(T, no, index, { from = from, to = to, amount = amount, before = fields, after = fields })
redis.call('RPUSH', B .. ':x:' .. index, detail)
if audit ~= '' then redis.call('RPUSH', B .. ':log', audit) end

if to == 'w' then
  redis.call('ZADD', B .. ':due', now + tonumber(dueIn), index)
else
  undispatch(T, no, index)
end
if to == 'w' or to == 'X' or to == 'c' then bump(T .. ':days', dayOf(fields, now), '-' .. tokens) end
if (to == 'X' or to == 'c') and not arrives and type(facts.ref) == 'table' then
  releaseReference(T, facts.ref.shard, unhex(facts.ref.fieldHex), no, index)
end
if to == 'P' then
  takeBack(T, facts.undoes, tokens)
  if not isTakenBack(T, no, index) then sayIfPaidTwice(T, no, index, about.doubt or about.attempt) end
end
if to == 'D' then voidHeld(T, no, index, now) end
local handed = releaseHolds(T, no, index, now)
local state = finishIfDone(T, no)
batches.flush(T)
return { 'ok', state or '', cjson.encode(handed) }
