--- @include "account"
--- @include "totals"
--[==[
  Counters, the attention list and the rule's account follow every move in the same script, so that counts and sums tie at any
  moment. Orders that are neither planned nor paid stand in the sorted set ':a', scored by state and index:
  lists need no scan.

    T 'retries'   raised with every order that was over and is paid, or may be, after all: by a retry, by a journal, by a
                  doubt. What was compared with it before is compared again (see seal-batch, retry)
    B 'retried'   how many of these are the batch's own
    B:again       index → the number of the realm's seals when that happened last
    T:again       the batches that have such orders, by the last of these numbers
]==]
local ATTENTION = { s = 1, u = 2, R = 3, X = 4, D = 5 }
local ATTENTION_SPAN = 4294967296

local function counted(code)
  return code == 'w' and 'p' or code
end

local OVER = { R = true, X = true, c = true }
local function noteAfterAll(T, no, index)
  local B = batchKey(T, no)
  redis.call('HINCRBY', T, 'retries', 1)
  redis.call('HINCRBY', B, 'retried', 1)
  local seals = redis.call('HGET', T, 'seals') or '0'
  redis.call('HSET', B .. ':again', index, seals)
  redis.call('ZADD', T .. ':again', seals, no)
end

local foundNoted = false

--- `moved`: {from, to, amount ('<tokens> <op> <reason>'), before, after: the fields of the record by name (see totals)}.
local function move(T, no, index, moved)
  local tokens = totals.parse(moved.amount)
  if not foundNoted then noteFound(T) end
  foundNoted = true
  local counters = T .. ':b:' .. no .. ':n'
  local from, to = counted(moved.from), counted(moved.to)
  if from ~= to then
    bump(counters, 'c:' .. from, -1)
    bump(counters, 'c:' .. to, 1)
    if tokens ~= '0' then
      bump(counters, 't:' .. from, '-' .. tokens)
      bump(counters, 't:' .. to, tokens)
    end
    local rank = ATTENTION[to]
    if rank then
      redis.call('ZADD', T .. ':b:' .. no .. ':a', rank * ATTENTION_SPAN + tonumber(index), index)
    elseif ATTENTION[from] then
      redis.call('ZREM', T .. ':b:' .. no .. ':a', index)
    end
    passAccount(T, no, index, from, to, tokens)
    totals.moved(T, no, moved)
    if OVER[from] and not OVER[to] then noteAfterAll(T, no, index) end
    if DEAD[from] ~= DEAD[to] and isMarked(decodeRecord(readRecord(T, no, index) or '')) then
      bump(T .. ':b:' .. no, 'aside', DEAD[to] and 1 or -1)
    end
  end
  batches.touch(no)
  return redis.call('HINCRBY', T, 'seq', 1)
end

--- What a person, or the program, does to a batch as a whole: a store that forgot it is found out by those who saw it. A ledger
--- that was never opened has nothing to forget.
local function noteAct(T)
  if redis.call('HEXISTS', T, 'armed') == 0 then return end
  noteFound(T)
  redis.call('HINCRBY', T, 'seq', 1)
end

local function countOf(T, no, code)
  return counter(T .. ':b:' .. no .. ':n', 'c:' .. code)
end

--- Ends a batch in which nothing is left to send or to find out, also when its last order came to its end
--- after a pause. `limit` is what `--first N` may still feed.
local function finishIfDone(T, no)
  local B = batchKey(T, no)
  local state = redis.call('HGET', B, 'state')
  if countOf(T, no, 's') > 0 or countOf(T, no, 'u') > 0 then return state end
  if state ~= 'planned' and state ~= 'waiting' and state ~= 'running' and state ~= 'paused' and state ~= 'halted' then return state end
  if countOf(T, no, 'p') == 0 then
    -- Nothing is left that a gate could keep: what comes back of it is counted, or was approved, order by order.
    redis.call('HSET', B, 'state', 'done', 'finishedAt', nowMs(), 'begun', '1')
    redis.call('HSETNX', B, 'startedAt', nowMs())
    -- An approval that was not used ends with it.
    redis.call('HDEL', B, 'reason', 'limit', 'limitReason', 'approval')
    batches.touch(no)
    return 'done'
  end
  local limit, limitReason = unpack(redis.call('HMGET', B, 'limit', 'limitReason'))
  local dispatched = redis.call('ZCARD', B .. ':due') + redis.call('HLEN', B .. ':waiting')
  if state == 'running' and limit == '0' and dispatched == 0 then
    redis.call('HSET', B, 'state', 'paused', 'reason', limitReason or '', 'stillAt', nowMs())
    redis.call('HDEL', B, 'limit', 'limitReason')
    batches.touch(no)
    return 'paused'
  end
  return state
end

--- A batch that was over has an order again that is to be sent or found out. The process of a finished run is
--- gone: whoever works it now is a worker, or a run that takes it over.
local function reopen(T, no)
  local B = batchKey(T, no)
  local state = redis.call('HGET', B, 'state')
  if state ~= 'done' and state ~= 'cancelled' then return end
  if redis.call('ZSCORE', T .. ':open', no) then return end
  batches.touch(no)
  -- Since then it is the workers'.
  redis.call('HSET', B, 'owner', '', 'handedAt', nowMs())
  if state == 'done' then
    redis.call('HSET', B, 'state', 'running')
    redis.call('HDEL', B, 'finishedAt')
  end
end

--- Attempts of which nobody can say what became of them are known for good: the history is trimmed, this is not.
local function noteAttempt(T, no, index, nonce)
  if nonce and nonce ~= '' then redis.call('SADD', T .. ':b:' .. no .. ':y:' .. index, nonce) end
end

--- The record of a doubt that no single attempt accounts for: it names none, so that no answer short of a payment ends it.
local function unnamedDoubt(T, no, index, fields, now)
  noteAttempt(T, no, index, lastNonce(fields))
  fields.nonce = ''
  return unanswered(T, no, index, 'D', fields, now)
end

--- Whether the order's history names this attempt.
local function attemptNoted(T, no, index, nonce)
  if redis.call('SISMEMBER', T .. ':b:' .. no .. ':y:' .. index, nonce) == 1 then return true end
  for _, detail in ipairs(redis.call('LRANGE', T .. ':b:' .. no .. ':x:' .. index, 0, -1)) do
    if string.find(detail, '"attempt":"' .. nonce .. '"', 1, true) then return true end
  end
  return false
end

--- A journal put this attempt back into a recovered batch: its order is not sent again before a person says so.
local function isPutBack(T, no, index, nonce)
  return redis.call('HEXISTS', batchKey(T, no), 'recovered') == 1 and attemptNoted(T, no, index, nonce)
end

--- Whether the order's history holds this very entry: the call is a repeated one, whose first answer was lost.
local function alreadyNoted(T, no, index, detail)
  return redis.call('LPOS', T .. ':b:' .. no .. ':x:' .. index, detail, 'RANK', -1)
end
