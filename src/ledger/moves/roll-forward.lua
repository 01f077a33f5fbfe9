--[==[
  Merges one attempt of a journal into the ledger. An attempt is known by its nonce, never by its number: after
  a rollback the same number may have been given to another one, and both may have left. The ledger knows an
  attempt when its record or its history names the nonce.

    known, being sent            settled by what the journal says
    known, and given up since    its answer, where the journal has one, counts: it is about this very attempt
    known otherwise              stays as it is, but paid is paid, whatever the ledger says
    not known                    paid is paid; what may have been applied makes the order unknown, whatever it
                                 was before, and it never waits to be sent again by this; a definite no is
                                 taken only where the order waits and the ledger is behind
    beside one that was paid     a second payment, proven or possible, which is said once and changes nothing
    not known to an archive      the same: nothing moves in an archived batch

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] batch id  ARGV[3] index  ARGV[4] nonce  ARGV[5] attempts  ARGV[6] tokens
  ARGV[7] new record, without its nonce: settled; u or D for an intent without result; s while it is under way
  ARGV[8] due at, ms from now  ARGV[9] detail JSON, with the nonce in it ('' while it is under way)
  ARGV[10] JSON {archived: the record in the archive ('' where it has none)|null, ref: [shard, hex, digest]|null, undoes: [shard, hex, no, index, account]|null,
    members: [...] to hold while it is sent or unknown, unknown: 'u' | 'D' (what an unknown becomes),
    honoured: the realm answers a key again, session: that sent it, settleMs: for how long it may arrive, answered: the journal has an answer to it, requests, retries, limited}

  Returns {'ok', state code, next orders JSON} | {'ahead', state code} | {'second', state code} | {'gone'} (no such batch here) | {'archived'} (its archive has to be read)
]==]
--- @include "record"
--- @include "row"
--- @include "move"
--- @include "reference"
--- @include "hold"
--- @include "day"
local T, no, index, nonce, tokens = KEYS[1], ARGV[1], ARGV[3], ARGV[4], ARGV[6]
local B = batchKey(T, no)
local meta = redis.call('HMGET', B, 'id', 'state', 'rows')
-- After a rollback the same number may have gone to another file.
if meta[1] ~= ARGV[2] or meta[2] == 'importing' then return { 'gone' } end
if not isRow(meta[3], index) then return { 'gone' } end

local facts = cjson.decode(ARGV[10])
local isArchived = meta[2] == 'archived'
if isArchived and type(facts.archived) ~= 'string' then return { 'archived' } end
local now = nowMs()
local old = readRecord(T, no, index)
if isArchived then old = facts.archived ~= '' and facts.archived end
local was = old and split(old) or blankFields()
local from = stateOf(old, meta[2] == 'cancelled')
local new = split(ARGV[7])
local code = new[1]
local mayBeApplied = code == 's' or code == 'u' or code == 'D'
if mayBeApplied then keepLimits(T, facts.session, facts.settleMs) end
local known = isAttempt(was, nonce)
local noted = known or attemptNoted(T, no, index, nonce)
local met = false
local sameKey = string.match(was[2], '^%d+') == string.match(new[2], '^%d+')

--- Noted, so that the same journal says it once.
local function note()
  if ARGV[9] == '' or isArchived then return end
  noteDetail(T, no, index, ARGV[9])
  noteAttempt(T, no, index, nonce)
end

--- The ledger knows enough. Noted all the same: what was looked at once is known from then on.
local function ahead()
  if not noted then note() end
  return { 'ahead', was[1] }
end

--- Two attempts that may both have left: the history names each, and the record none, so that whatever one of them
--- hears later, short of having paid, ends nothing.
local function noteMet(attempt, session, key)
  noteDetail(T, no, index, cjson.encode({ event = 'orphaned', at = now, attempt = attempt, session = session,
    key = ARGV[2] .. '-' .. index .. '.' .. string.match(key, '^%d+'), code = 'ALM_SEND_OWNER_DIED',
    message = 'two attempts on this order may both have left; what one of them hears does not speak for the other' }))
  noteAttempt(T, no, index, attempt)
end

--- Its request may arrive from now on as well, and nobody knows when.
local function mayArrive()
  voidMembers(T, facts.members, now + settleMs(T))
end

local function isOfPaid()
  return was[1] == 'P' or was[1] == 'd' or was[1] == 'i'
end

--- No state can tell of a second payment, nor an archive of a late one: it is kept with the batch ('<index>:<nonce>:<how> …')
--- and in its audit. How: P paid twice, u perhaps twice, A paid after all, a perhaps after all.
local function saySecond(attempt, proven, isTwice)
  local said = redis.call('HGET', B, 'second') or ''
  local word = ' ' .. index .. ':' .. attempt .. ':' .. (isTwice and (proven and 'P' or 'u') or (proven and 'A' or 'a'))
  if string.find(said, word, 1, true) then return false end
  redis.call('HSET', B, 'second', said .. word)
  redis.call('RPUSH', B .. ':log', cjson.encode({ at = now, who = 'almoner',
    what = 'order ' .. ARGV[2] .. '-' .. index .. (proven and ' was paid' or ' may have been paid') .. (isTwice and ' twice' or ' after all'),
    why = not isTwice and 'a journal came to light after the batch was archived, and the archive does not know this attempt; look upstream'
      or (proven and 'two attempts on it were each answered as paid' or 'an attempt beside the one that counts may have been applied')
      .. '; look upstream, and where both are there, take one back with the row that almoner undo writes for it, or, where it is an undo itself, with an order of its own' }))
  return true
end

if isOfPaid() then
  -- A record of 0.2.0 does not name its attempt; the same stamp is the same attempt there. A key that is honoured pays once.
  local isIt = known or (lastNonce(was) == '' and was[7] == new[7])
  local tells = code == 'P' or (mayBeApplied and not noted)
  if isIt or (facts.honoured and sameKey) or not tells or not saySecond(nonce, code == 'P', true) then
    return isIt and { 'ahead', was[1] } or ahead()
  end
  note()
  mayArrive()
  bump(B, 'version', 1)
  return { 'second', was[1] }
elseif isArchived then
  if not (code == 'P' or (mayBeApplied and not known)) or not saySecond(nonce, code == 'P', false) then return { 'ahead', was[1] } end
  mayArrive()
  -- Its reference was freed with its end. No other order may be paid under it now, unless one has it already.
  if type(facts.ref) == 'table' and not spentBy(T, facts.ref[1], unhex(facts.ref[2]), no, index) then
    takeReference(T, facts.ref[1], unhex(facts.ref[2]), facts.ref[3], no, index)
  end
  bump(B, 'version', 1)
  return { 'second', was[1] }
elseif known then
  if code == 's' then return { 'ahead', was[1] } end
  local given = (was[1] == 'u' or was[1] == 'D') and facts.answered
  if was[1] ~= 's' and not given and code ~= 'P' then return { 'ahead', was[1] } end
elseif code ~= 'P' then
  if noted then return { 'ahead', was[1] } end
  if was[1] == 'D' then
    -- What it doubts is another attempt, or one that nobody knows of at all: a no to this one does not end it.
    note()
    if mayBeApplied then
      mayArrive()
      writeRecord(T, no, index, unnamedDoubt(T, no, index, was, now))
    end
    return { 'ahead', was[1] }
  elseif not mayBeApplied then
    if was[1] ~= 'w' or tonumber(was[3]) >= tonumber(ARGV[5]) then return ahead() end
  elseif was[1] == 's' or was[1] == 'u' then
    -- Both may have left. Whichever of them comes to an end, the other may have been applied as well, unless they
    -- ask under one key.
    code = sameKey and facts.unknown or 'D'
    met = true
  end
end
local attempts = math.max(tonumber(was[3]), tonumber(ARGV[5]))

if code == 'w' and meta[2] == 'cancelled' then code = 'c' end
-- Its row stands in another file by now, or its reference pays another order: nothing sends it again by itself.
local ref = type(facts.ref) == 'table' and { facts.ref[1], unhex(facts.ref[2]), facts.ref[3] }
if (was[10] or '') ~= '' or (ref and spentBy(T, ref[1], ref[2], no, index)) then
  if code == 'w' then code = 'X' end
  if code == 's' or code == 'u' then code = 'D' end
end

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

-- It moved its members, and the ledger did not know: what was read of them before proves nothing, for
-- whichever order it was read. Where it holds none and has no answer, it may move them still.
local loose = code == 'D' or (code == 's' and not holdToken(T, no, index))
if not known or loose then voidMembers(T, facts.members, now + (loose and settleMs(T) or 0)) end

new[1], new[3], new[10] = code, tostring(attempts), was[10] or ''
local firstUsed = keyFirstUsed(was)
if sameKey and firstUsed and firstUsed < keyFirstUsed(new) then
  new[2] = string.match(new[2], '^%d+') .. '@' .. base36(firstUsed)
end
new[11] = (met or code == 's') and '' or code == 'P' and nonceMark(nonce) or nonce
new[12] = was[12]
if met then
  if was[1] == 's' then noteMet(was[6], was[5], was[2]) end
  if ARGV[9] == '' then noteMet(nonce, new[5], new[2]) end
end
local record = table.concat(new, '|')
-- What nobody has answered stays so up to now; only the attempt's own result says since when.
if (code == 'u' or code == 'D') and not (known and facts.answered) then
  record = unanswered(T, no, index, code, new, now)
elseif code == 'D' then
  numberDoubt(T, no, index, new)
  record = table.concat(new, '|')
end
writeRecord(T, no, index, record)
if meta[2] == 'planned' then
  redis.call('HSET', B, 'state', 'running')
  redis.call('HSETNX', B, 'startedAt', now)
end
if code == 's' or code == 'u' or code == 'w' then reopen(T, no) end
move(T, no, index, from, code, tokens)

if code == 'w' or code == 'u' or code == 's' then
  redis.call('ZADD', B .. ':due', now + tonumber(ARGV[8]), index)
else
  undispatch(T, no, index)
end
note()

-- The day's sum holds what may have been applied.
local COUNTS = { s = true, u = true, D = true, P = true }
if COUNTS[from] then bump(T .. ':days', dayOf(was, 0), '-' .. tokens) end
if COUNTS[code] then bump(T .. ':days', dayOf(new, 0), tokens) end
if ref and (code == 'R' or code == 'X' or code == 'c') then
  releaseReference(T, ref[1], ref[2], no, index)
elseif ref and not spentBy(T, ref[1], ref[2], no, index) then
  takeReference(T, ref[1], ref[2], ref[3], no, index)
end
-- It is paid by this attempt. The one that the record named, or those of an unnamed doubt, may have been applied as well.
if code == 'P' and not known and (was[1] == 's' or was[1] == 'u' or was[1] == 'D') and not (facts.honoured and sameKey) then
  local other = lastNonce(was)
  saySecond(other == '' and 'another' or other, false, true)
end
if code == 'P' then freeUndone(T, facts.undoes, tokens) end
local handed = {}
if not holds then handed = releaseHolds(T, no, index, now) end

if facts.requests > 0 then redis.call('HINCRBY', B, 'requests', facts.requests) end
if facts.retries > 0 then redis.call('HINCRBY', B, 'retries', facts.retries) end
if facts.limited > 0 then redis.call('HINCRBY', B, 'limited', facts.limited) end
finishIfDone(T, no)
return { 'ok', code, cjson.encode(handed) }
