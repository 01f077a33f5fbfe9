--[==[
  Takes the results of attempts: moves each order from sending to what its result means. Only the attempt
  that holds the nonce can do it. A repeated call changes nothing and gets its answer again, but for the
  orders handed over, which are due anyway; a late one is told what stands.

  KEYS[1] the realm
  ARGV[1] JSON list of results, each a list:
     1 batch no  2 index  3 nonce  4 amount (see totals)  5 new record
     6 due at, ms from now (0 unless waiting or unknown)
     7 detail JSON to append ('' for an order paid at its first attempt)
     8 bucket of its latency  9 slice of the run in which it is counted
    10 requests  11 retries  12 rate limits met   counters to add
    13 what only some need: {
         ref: [shard, field hex] | null           the order's own reference, released when it ends unpaid
         undoes: [shard, field hex, no, index, account] | null   the reference that a paid undo frees
         class: error code or ''                  for the breaker
         unreached: true                          the connection did not come about
         haltRealm: reason JSON | null, refusals: {reason (null: it does not count), inARow, beforePaid}, unknowns: n
       }

  Returns a JSON list, for each result
    ['ok', state code, seq, next orders JSON] | ['stale', record or ''] | ['error', message]
]==]
--- @include "record"
--- @include "tally"
--- @include "move"
--- @include "reference"
--- @include "hold"
--- @include "breaker"
--- @include "each"
--- @include "second"
--- @include "debt"
local T, resultsJson = KEYS[1], ARGV[1]
local now = nowMs()
--- Hardly any realm has debts of which journals brought back more than the store knew.
local anyDebts = redis.call('EXISTS', T .. ':debts') == 1
local anyUndoes = redis.call('EXISTS', T .. ':undoes') == 1

--- The batches of these orders: each is asked once whether it has ended.
local mayBeDone = {}

local function settle(result)
  local no, index, nonce, amount, new, dueIn, detail = unpack(result, 1, 7)
  local tokens = totals.parse(amount)
  local latency, slice, requests, retries, limited, more = unpack(result, 8, 13)
  local B = batchKey(T, no)
  local old = readRecord(T, no, index)
  if not old then return { 'stale', '' } end
  local was = decodeRecord(old)
  if was.state ~= 's' or was.nonce ~= nonce then
    -- Only this very attempt can have left this very record. Its state may be another, its nonce and doubt stand behind it.
    local isRepeated = isAttempt(was, nonce) and string.sub(old .. '|', 3, #new + 1) == string.sub(new, 3) .. '|'
    if not isRepeated then return { 'stale', old } end
    return { 'ok', was.state, redis.call('HGET', T, 'seq') or '0', '[]' }
  end

  local fields = decodeRecord(new)
  local code = fields.state
  if code == 'w' and isCancelled(T, no) then code = 'c' end
  if code == 'w' and isPutBack(T, no, index, nonce) then code = 'X' end
  fields.state = code
  fields.nonce = code == 'P' and nonceMark(nonce) or nonce
  fields.doubt = was.doubt
  if code == 'D' then numberDoubt(T, no, index, fields) end
  writeRecord(T, no, index, encodeRecord(fields))
  local seq = move(T, no, index, { from = 's', to = code, amount = amount, before = was, after = fields })

  if code == 'w' or code == 'u' then
    redis.call('ZADD', B .. ':due', now + tonumber(dueIn), index)
  else
    undispatch(T, no, index)
  end
  if code == 'u' or code == 'D' then noteAttempt(T, no, index, nonce) end
  if detail ~= '' then noteDetail(T, no, index, detail) end

  -- Definitely not applied: the day's sum gets it back, and at its end the reference is free.
  if code == 'w' or code == 'R' or code == 'X' or code == 'c' then bump(T .. ':days', dayOf(was, now), '-' .. tokens) end
  if (code == 'R' or code == 'X' or code == 'c') and type(more.ref) == 'table' then
    releaseReference(T, more.ref.shard, unhex(more.ref.fieldHex), no, index)
  end
  if code == 'P' then
    takeBack(T, more.undoes, tokens)
    local isUndone = anyUndoes and isTakenBack(T, no, index)
    if anyDebts and not isUndone then sayIfPaidTwice(T, no, index, nonce) end
  end

  if code == 'D' then voidHeld(T, no, index, now) end
  local handed = {}
  if code ~= 'u' then handed = releaseHolds(T, no, index, now) end

  local run = B .. ':run'
  local day = dayOf(was, now)
  totals.worked(T, no, 'requests', requests, day)
  if retries > 0 then totals.worked(T, no, 'retries', retries, day) end
  if limited > 0 then totals.worked(T, no, 'limited', limited, day) end
  bump(B .. ':lat', latency, 1)
  totals.addWork(T, 'b' .. latency, 1, day)
  -- Over the realm's whole life, for the metrics; '-' where no answer came.
  local status = fields.status
  bump(T .. ':statuses', status == '' and '-' or status, 1)
  bump(run, slice .. ':q', requests)
  if code == 'P' then bump(run, slice .. ':p', 1) end
  if code == 'R' or code == 'X' then bump(run, slice .. ':f', 1) end
  if code == 'D' then bump(run, slice .. ':d', 1) end
  if limited > 0 then bump(run, slice .. ':l', limited) end

  if type(more.haltRealm) == 'string' and redis.call('HSETNX', T, 'halt', more.haltRealm) == 1 then
    redis.call('HSET', T, 'haltAt', now)
  end
  if code == 'P' then
    forgetUnknowns(T)
    forgetRefusals(T, no)
  elseif code == 'R' then
    forgetUnknowns(T)
    if more.refusals.reason ~= 'null' then noteRefusal(T, no, more.class, more.refusals, now) end
  elseif code == 'u' or code == 'D' or more.unreached then
    noteUnknown(T, more.unknowns, now)
  end
  mayBeDone[no] = true
  return { 'ok', code, seq, #handed > 0 and cjson.encode(handed) or '[]' }
end

local replies = each(resultsJson, settle)
writeTally()
for no in pairs(mayBeDone) do finishIfDone(T, no) end
batches.flush(T)
return replies
