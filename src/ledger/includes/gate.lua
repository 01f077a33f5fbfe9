--[==[
  When a batch may begin, and when dead letters may be retried. What a profile does not let one person pay alone waits for
  the approval of another one, and nothing begins before its time. Needs `record`.

  `limits`: {tokens, rows}, the most that one person may pay within 24 hours alone, from the profile of the process that
  prepares, sends or retries; neither: no approval is required. `who`: the name of a token; '' where no token was used.

  What one person pays alone is counted order by order, when the order leaves for the first time (see sender-gate). Before that a
  batch is judged as a whole, so that it waits before any of it is sent and not half-way.

    T:alone            whose such keys there are
    T:alone:<who>      numbers of the batches that the person pays alone, by the time at which each begins
    T:alone:<who>:left slice of ten minutes → '<rows> <tokens>' of the orders that left then
    B:alone            index → '<slice> <who>': where the order is counted, which is where it left last
    B:retriedBy        index → '<ms> <who>': the person who put the dead letter back to work alone; '-' where another one approved it;
                       '<ms>' of an order that no approval has covered since: should it come back, it counts for who pays the batch
    B 'preparer'       who prepared it
    B 'confirmed'      hash of all that an approver is shown of the sealed batch (core/approvals.ts)
    B 'approval'       JSON of the request for an approval that was not used yet (see approvals)
    B 'cleared'        why it may be sent without being counted: 'rule' (two people approved the rule that made it) | 'approved' |
                       'rest' (approved after a part of it had been sent: all but dead letters that were retried since)
    B 'byRule'         '1': the schedule of a rule made it, and nobody pays it alone
    B 'begun'          '1': it passed here. A restored store may have forgotten it
    B 'startedAt'      when it passed, or when a journal put the first of its orders back: the one home of whether its
                       set time has come
    B 'sealedStart'    '<startAt> <startZone>' as it was sealed, for the hash
    B 'startAt', 'startZone'    it begins then, as it was said by the wall of that zone; void once it has a startedAt
    B:retries          index → '<ends> <sha1 of its record> <who> approved' or '… alone': dead letters that may be retried once,
                       as they were then
]==]
--- @include "approvals"
local DAY_MS, HOUR_MS, SLICE_MS = 86400000, 3600000, 600000

local function limitsOf(tokens, rows)
  return { tokens = tonumber(tokens or ''), rows = tonumber(rows or '') }
end

local function isRequired(limits)
  return limits.tokens ~= nil or limits.rows ~= nil
end

local function isWithin(limits, rows, tokens)
  return not (limits.tokens and tokens > limits.tokens) and not (limits.rows and rows > limits.rows)
end

local function aloneKey(T, who)
  return T .. ':alone:' .. string.lower(who)
end

--- Rows and tokens of the orders that a person paid alone since then, to ten minutes. Slices are kept, and count, for a day
--- longer on both sides of now: the clock of a store may step.
local function leftSince(T, who, since, now)
  local rows, tokens = 0, 0
  local all = redis.call('HGETALL', aloneKey(T, who) .. ':left')
  for i = 1, #all, 2 do
    local begins = tonumber(all[i]) * SLICE_MS
    if begins > now + DAY_MS or begins < now - 2 * DAY_MS then
      redis.call('HDEL', aloneKey(T, who) .. ':left', all[i])
    elseif begins + SLICE_MS > since then
      local r, t = string.match(all[i + 1], '^(%S+) (%S+)$')
      rows, tokens = rows + tonumber(r), tokens + tonumber(t)
    end
  end
  return rows, tokens
end

--- Takes an order into, or out of, what a person paid alone in a slice.
local function bumpLeft(T, who, slice, rows, tokens)
  local key = aloneKey(T, who) .. ':left'
  local r, t = string.match(redis.call('HGET', key, slice) or '0 0', '^(%S+) (%S+)$')
  redis.call('SADD', T .. ':alone', string.lower(who))
  redis.call('HSET', key, slice, string.format('%.0f %.0f', math.max(0, tonumber(r) + rows), math.max(0, tonumber(t) + tokens)))
end

--- Rows and tokens that are still to be sent of the other batches that a person pays alone within 24 hours of a time.
local OPEN_FOR_ALONE = { planned = true, running = true, paused = true, halted = true }
local function plannedBeside(T, who, no, at)
  local rows, tokens, key = 0, 0, aloneKey(T, who)
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. string.format('%.0f', at - DAY_MS), '(' .. string.format('%.0f', at + DAY_MS))) do
    if other ~= no and OPEN_FOR_ALONE[redis.call('HGET', batchKey(T, other), 'state') or ''] then
      local counters = batchKey(T, other) .. ':n'
      rows, tokens = rows + counter(counters, 'c:p'), tokens + counter(counters, 't:p')
    end
  end
  return rows, tokens
end

--- Whether a person may pay so much more alone at a time, beside all that they paid or prepared within 24 hours of it.
local function mayPayAlone(T, who, no, rows, tokens, at, limits)
  local leftRows, leftTokens = leftSince(T, who, at - DAY_MS, nowMs())
  local otherRows, otherTokens = plannedBeside(T, who, no, at)
  return isWithin(limits, rows + leftRows + otherRows, tokens + leftTokens + otherTokens)
end

--- What is planned of the batch is kept for the person who pays it alone.
local function keepFor(T, who, no, at)
  redis.call('SADD', T .. ':alone', string.lower(who))
  redis.call('ZREMRANGEBYSCORE', aloneKey(T, who), '-inf', string.format('%.0f', nowMs() - 7 * DAY_MS))
  redis.call('ZADD', aloneKey(T, who), string.format('%.0f', at), no)
end

--- The time at which the batch is to begin; nil where none was set, or orders of it have been sent.
local function setTime(T, no)
  local startAt, startedAt = unpack(redis.call('HMGET', batchKey(T, no), 'startAt', 'startedAt'))
  return not startedAt and tonumber(startAt or '') or nil
end

--- Why the batch may not begin now: 'approval' | 'start-time' | 'start-missed'; nil where it may, or has.
local function closedGate(T, no, now)
  if redis.call('HEXISTS', batchKey(T, no), 'begun') == 1 then return nil end
  local request = readRequest(T, 'batch', no)
  if request and not isApproved(request, now) then return 'approval' end
  local startAt = setTime(T, no)
  -- Approved after its time, it begins at once: the approver saw that the time was over.
  if startAt and request and request.approved.at > startAt then return nil end
  if startAt and now < startAt then return 'start-time' end
  if startAt and now > startAt + HOUR_MS then return 'start-missed' end
  return nil
end

--- The state of a batch that may not begin yet. Unknown orders of one that was put back are still found out.
local function stateBefore(T, no, closed)
  local B = batchKey(T, no)
  if redis.call('HEXISTS', B, 'startedAt') == 1 or counter(B .. ':n', 'c:u') > 0 then return 'running' end
  return closed == 'approval' and 'waiting' or 'planned'
end

--- Who pays the batch alone, where somebody may.
local function payerOf(T, no)
  local preparer, byRule = unpack(redis.call('HMGET', batchKey(T, no), 'preparer', 'byRule'))
  return not byRule and preparer or nil
end

--- Who asks for an approval: the person who prepared the batch, or put orders of a recovered one back to work. Nil where somebody without a
--- token had a hand in what is to be sent: the approver may be the same person.
local function firstOf(T, no, request)
  local preparer, recovered = unpack(redis.call('HMGET', batchKey(T, no), 'preparer', 'recovered'))
  if request.who == '' or not preparer and not recovered then return nil end
  local retried = redis.call('HGETALL', batchKey(T, no) .. ':retriedBy')
  for i = 1, #retried, 2 do
    local isNameless = string.find(retried[i + 1], '^%d+ $')
    if isNameless and string.sub(readRecord(T, no, retried[i]) or '', 1, 1) == 'w' then return nil end
  end
  return preparer or request.who
end

--- Asks for the approval of a batch. `who`: the person who may not pay it alone; '' where that is not known.
local function askApproval(T, no, who, now)
  local B = batchKey(T, no)
  local payer = payerOf(T, no)
  if payer then redis.call('ZREM', aloneKey(T, payer), no) end
  writeRequest(T, 'batch', no, { hash = redis.call('HGET', B, 'confirmed') or '', who = who, at = now })
  redis.call('RPUSH', B .. ':log', cjson.encode({ at = now, who = 'almoner', what = 'asked for an approval', why = cjson.null }))
  batches.touch(no)
end

--- The same for a process that sends or prepares it with these limits: what they do not allow one person alone asks for an
--- approval, and keeps asking whatever other limits others have.
local function judgeGate(T, no, limits, now)
  local B = batchKey(T, no)
  local begun, approval, cleared, preparer = unpack(redis.call('HMGET', B, 'begun', 'approval', 'cleared', 'preparer'))
  if not begun and not approval and cleared ~= 'rule' then
    local who, at = payerOf(T, no), math.max(now, setTime(T, no) or 0)
    local rows, tokens = counter(B .. ':n', 'c:p'), counter(B .. ':n', 't:p')
    if isRequired(limits) and not (who and mayPayAlone(T, who, no, rows, tokens, at, limits)) then
      askApproval(T, no, preparer or '', now)
    elseif who and isRequired(limits) then
      keepFor(T, who, no, at)
    end
  end
  local closed = closedGate(T, no, now)
  local state = redis.call('HGET', B, 'state')
  if closed == 'approval' and (state == 'planned' or state == 'running') then
    -- A run of it ends. What is unknown in it is found out by the workers.
    if redis.call('HGET', B, 'owner') ~= '' then redis.call('HSET', B, 'owner', '', 'handedAt', now) end
    if stateBefore(T, no, closed) == 'waiting' then redis.call('HSET', B, 'state', 'waiting') end
    batches.touch(no)
  end
  return closed
end

--- The batch passes; an approval is used up by it. It covers the dead letters that had been retried when it was given.
local function begin(T, no, now)
  local B = batchKey(T, no)
  local isFirst = redis.call('HSETNX', B, 'startedAt', now) == 1
  if redis.call('HEXISTS', B, 'begun') == 1 then return end
  local request, who = readRequest(T, 'batch', no), payerOf(T, no)
  if request then
    redis.call('HSET', B, 'cleared', isFirst and request.approved.whole and 'approved' or 'rest')
    local retried = redis.call('HGETALL', B .. ':retriedBy')
    for i = 1, #retried, 2 do
      local at = tonumber(string.match(retried[i + 1], '^%d+'))
      if at and at < request.approved.at then redis.call('HSET', B .. ':retriedBy', retried[i], '-') end
    end
  elseif who then
    redis.call('ZADD', aloneKey(T, who), 'XX', string.format('%.0f', now), no)
  end
  redis.call('HSET', B, 'begun', '1')
  redis.call('HDEL', B, 'approval', 'startAt', 'startZone')
end

--- What lets a dead letter be retried as it stands now: 'approved' | 'alone' | nil.
local function allowedRetry(T, no, index, record, now)
  local ends, sha, how = string.match(redis.call('HGET', batchKey(T, no) .. ':retries', index) or '', '^(%d+) (%x+) %S+ (%a+)$')
  return ends and now < tonumber(ends) and sha == redis.sha1hex(record) and how or nil
end

--- It was in doubt, and a person said that it was not paid: sent again it may be paid a second time.
local function isUnpaidByWord(record)
  return string.find(record, '^X.*|d%d+%-%x+$') ~= nil
end

--- Its batch was approved as a whole: a dead letter of it is one of the orders that were approved, and was not paid.
local function isApprovedWhole(T, no, record)
  local begun, cleared = unpack(redis.call('HMGET', batchKey(T, no), 'begun', 'cleared'))
  return begun and (cleared == 'approved' or cleared == 'rule') and not isUnpaidByWord(record)
end

--- Whether a dead letter may be put back to work: its batch was approved, or it may be as it stands now.
local function mayRetry(T, no, index, record, limits, now)
  if not isRequired(limits) or isApprovedWhole(T, no, record) then return true end
  return allowedRetry(T, no, index, record, now) ~= nil
end

--- Notes who put it back to work, and uses up what allowed it. `who`: '' where no token was used. `record`: as it was dead.
local function noteRetried(T, no, index, record, who, now)
  local B = batchKey(T, no)
  local isApproved = allowedRetry(T, no, index, record, now) == 'approved'
  redis.call('HDEL', B .. ':retries', index)
  if isApprovedWhole(T, no, record) then return end
  redis.call('HSET', B .. ':retriedBy', index, isApproved and '-' or string.format('%.0f ', now) .. who)
  -- Where it left before, it goes on counting.
  if isUnpaidByWord(record) then redis.call('HDEL', B .. ':alone', index) end
  if who ~= '' and not isApproved then keepFor(T, who, no, now) end
end
