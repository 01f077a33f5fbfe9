--- An order's record, decoded into a table with names. record-fields.ts has the table of its fields and says what each is.
--- @include "record-fields"
local BLOCK_ORDERS = 128

--- Which lists name a batch, and that it changed (see batches).
local batches = {}

--- The fields of an order that was never sent and has no record.
local function blankFields()
  return { state = 'w', key = '1', attempts = '0', tries = '0', status = '', balance = '', sent = '', took = '', evidence = '', marks = '' }
end

local function batchKey(T, no)
  return T .. ':b:' .. no
end

local function recordKey(T, no, index)
  return T .. ':b:' .. no .. ':o:' .. math.floor((tonumber(index) - 1) / BLOCK_ORDERS)
end

local function readRecord(T, no, index)
  return redis.call('HGET', recordKey(T, no, index), index)
end

--- Nothing delivers the order any more.
local function undispatch(T, no, index)
  local B = batchKey(T, no)
  redis.call('ZREM', B .. ':due', index)
  redis.call('HDEL', B .. ':g', index)
  batches.touch(no)
end

--- What the order met, as far back as is kept.
local function noteDetail(T, no, index, detail)
  local history = batchKey(T, no) .. ':x:' .. index
  redis.call('RPUSH', history, detail)
  redis.call('LTRIM', history, -50, -1)
end

local function writeRecord(T, no, index, record)
  redis.call('HSET', recordKey(T, no, index), index, record)
end

local DEAD = { R = true, X = true }
--- Discarded, or put into another file.
local function isMarked(fields)
  return string.find(fields.marks or '', '[dr]') ~= nil
end

--- Gives a record other marks. B 'aside' counts the dead letters that are marked: a person is done with them, and no
--- count of what waits for one may hold them (see move.lua, where marked orders come to an end or leave it).
local function writeMarks(T, no, index, fields, marks)
  local function aside() return DEAD[fields.state] and isMarked(fields) and 1 or 0 end
  local before = aside()
  fields.marks = marks
  writeRecord(T, no, index, encodeRecord(fields))
  redis.call('HINCRBY', batchKey(T, no), 'aside', aside() - before)
  batches.touch(no)
end

--- The state as the world sees it: what a cancelled batch never sent is cancelled, without a write per row.
local function stateOf(record, cancelled)
  local code = record and string.sub(record, 1, 1) or 'w'
  if code ~= 'w' then return code end
  return cancelled and 'c' or 'p'
end

local function isCancelled(T, no)
  return redis.call('HGET', batchKey(T, no), 'state') == 'cancelled'
end

local DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'
local function base36(number)
  local text = ''
  number = math.max(0, math.floor(number))
  repeat
    local digit = number % 36
    text = string.sub(DIGITS, digit + 1, digit + 1) .. text
    number = (number - digit) / 36
  until number == 0
  return text
end

--- The nonce of the attempt that a record tells of, '' where it names none.
local function lastNonce(fields)
  return fields.nonce or ''
end

--- Enough of a nonce to tell two attempts on one order apart: the record of a paid order keeps no more.
local function nonceMark(nonce)
  return nonce == '' and '' or string.sub(redis.sha1hex(nonce), 1, 6)
end

local function isAttempt(fields, nonce)
  return lastNonce(fields) == (fields.state == 'P' and nonceMark(nonce) or nonce)
end

--- Gives a record that becomes a doubt, or doubts another attempt from now on, a number of its own.
local function numberDoubt(T, no, index, fields)
  local count = tonumber(string.match(fields.doubt or '', '^d(%d+)') or '0') + 1
  local era, seq = unpack(redis.call('HMGET', T, 'era', 'seq'))
  local seed = table.concat({ no, index, era or '', seq or '', table.concat(redis.call('TIME'), '.') }, ' ')
  fields.doubt = 'd' .. count .. '-' .. string.sub(redis.sha1hex(seed), 1, 4)
end

--- When the key of a record was first used, in ms, or nil where it never was.
local function keyFirstUsed(fields)
  local stamp = string.match(fields.key, '@(.+)$') or fields.sent
  return stamp ~= '' and tonumber(stamp, 36) or nil
end

--- The record of an attempt that nobody has answered by now: unknown, or a doubt with a number of its own.
local function unanswered(T, no, index, code, fields, now)
  local sent = tonumber(fields.sent, 36)
  local new = { state = code, key = fields.key, attempts = fields.attempts, tries = fields.tries, sent = fields.sent,
    took = sent and base36(now - sent) or '', marks = fields.marks, nonce = lastNonce(fields), doubt = fields.doubt }
  if code == 'D' then numberDoubt(T, no, index, new) end
  return encodeRecord(new)
end

--- Since a rollback a number may stand for another batch than the one that is meant.
local function isBatch(T, no, id)
  return redis.call('HGET', batchKey(T, no), 'id') == id
end

local function nowMs()
  local seconds, micros = unpack(redis.call('TIME'))
  return tonumber(seconds) * 1000 + math.floor(tonumber(micros) / 1000)
end

--- The same for a whole call, and INFO is dear: asked once.
local knownRun
local function serverRun()
  if knownRun then return knownRun end
  local info = redis.pcall('INFO', 'server')
  -- A managed Redis may deny INFO; the operator has attested then that it does not forget.
  knownRun = type(info) ~= 'table' and string.match(info, 'run_id:(%w+)') or 'unproven'
  return knownRun
end

--- Before the first move on a store that is not armed: what it had then is what it remembers, however much the
--- journals put back since.
local function noteFound(T)
  local armed, found, seq = unpack(redis.call('HMGET', T, 'armed', 'found', 'seq'))
  if not found and seq and armed ~= serverRun() then redis.call('HSET', T, 'found', seq) end
end

--- Two processes may work with different profiles. The ledger goes by the longest settle time and the longest time-out
--- of all registered sessions, and of those that left while a request of theirs may still arrive. Where there is none,
--- by the session that left last.
---   T:waits  session → '<settle time> <time-out>' in ms, and of one that left ' <until when its requests may arrive>'
--- What is over is kept for a day: the clock that says so may have gone ahead (see note-clock-step).
local WAITS_KEPT_MS = 86400000
local function longestLimits(T)
  local settle, timeout = 0, 0
  local all, now = redis.call('HGETALL', T .. ':waits'), nowMs()
  for i = 2, #all, 2 do
    local one, other, ends = string.match(all[i], '^(%d+) (%d+) ?(%d*)$')
    if one and (ends == '' or tonumber(ends) > now) then
      settle, timeout = math.max(settle, tonumber(one)), math.max(timeout, tonumber(other))
    elseif one and tonumber(ends) + WAITS_KEPT_MS < now then
      redis.call('HDEL', T .. ':waits', all[i - 1])
    end
  end
  return settle, timeout
end

--- A session leaves the registry. What it began may arrive for as long as its limits say. Only the session itself
--- knows that it began nothing: a store may have forgotten that it did.
local function leaveLimits(T, session, isIdle)
  local limits = redis.call('HGET', T .. ':waits', session)
  local settle, timeout = string.match(limits or '', '^(%d+) (%d+)$')
  if not settle then return end
  if isIdle then
    redis.call('HDEL', T .. ':waits', session)
  else
    local ends = nowMs() + tonumber(settle) + tonumber(timeout)
    redis.call('HSET', T .. ':waits', session, limits .. string.format(' %.0f', ends))
  end
end

local function noteLimits(T)
  local settle, timeout = longestLimits(T)
  if settle > 0 then redis.call('HSET', T, 'settleMs', settle, 'timeoutMs', timeout) end
end

--- A journal tells of a request that may still arrive. Where its session is not registered any more, its settle time
--- counts from now on.
local function keepLimits(T, session, settle)
  local limits = redis.call('HGET', T .. ':waits', session)
  local known, ends = string.match(limits or '0 0 0', '^(%d+) %d+ (%d+)$')
  if not known then return end
  local later = math.max(tonumber(ends), nowMs() + settle)
  redis.call('HSET', T .. ':waits', session, string.format('%.0f 0 %.0f', math.max(tonumber(known), settle), later))
  noteLimits(T)
end

--- Within this time a request arrives at the realm, or never.
local function settleMs(T)
  return tonumber(redis.call('HGET', T, 'settleMs') or '1200000')
end

--- Until when nobody knows what of before is over, because a sender found this clock stepped forward; else 0. Further
--- away than that takes, the clock was put right since.
local function steppedUntil(T)
  local ms = tonumber(redis.call('HGET', T, 'steppedUntil') or '0')
  return ms <= nowMs() + settleMs(T) and ms or 0
end

--- Until when the request of an order that a person called unpaid may still arrive, or nil. Before that nothing
--- may pay it again: neither a retry, nor a row that stands in for it, nor another order under its reference.
local function mayArriveUntil(T, record)
  if not record or string.sub(record, 1, 1) ~= 'X' then return nil end
  local ms = tonumber(string.match(decodeRecord(record).marks or '', 'a(%d+)') or '')
  ms = ms and math.max(ms, steppedUntil(T))
  return ms and ms > nowMs() and string.format('%.0f', ms) or nil
end

--- Whether an order that is due in so long should wait. No pause is longer: the clock was stepped back since.
local LONGEST_PAUSE_MS = 30 * 60 * 1000
local function isPause(ms)
  return ms > 0 and ms <= LONGEST_PAUSE_MS
end

--- How long an order that never reached the realm rests in the quiet hours that end then; nil for any other, and where they are
--- over. One that waits for its next attempt has heard from the realm if it has a status.
local function quietMs(record, ends, now)
  if ends == '0' then return nil end
  local ms = tonumber(ends) - now
  if ms <= 0 then return nil end
  local fields = record and decodeRecord(record)
  if fields and (fields.state ~= 'w' or fields.status ~= '') then return nil end
  return math.min(ms, LONGEST_PAUSE_MS)
end

--- Counters; `tally` has others of the same names for scripts that move many orders. A sum that no counter
--- holds stays at the last that one does: a script that failed here would leave half of a move behind.
local function bump(key, field, by)
  local sum = redis.pcall('HINCRBY', key, field, by)
  if type(sum) ~= 'table' then return end
  if not string.find(sum.err, 'overflow', 1, true) then redis.call('HINCRBY', key, field, by) end
  redis.call('HSET', key, field, tonumber(by) < 0 and '-9223372036854775808' or '9223372036854775807')
end

local function counter(key, field)
  return tonumber(redis.call('HGET', key, field) or '0')
end

--- @include "may-send"
--- @include "batches"
