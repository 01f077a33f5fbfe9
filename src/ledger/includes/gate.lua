--[==[
  When a batch may begin, and when dead letters may be retried. What a profile does not let one person pay alone waits for
  the approval of another one, and nothing begins before its time. Needs `record`.

  `limits`: {tokens, rows}, the most that one person may pay within 24 hours alone, from the profile of whoever prepares,
  sends or retries; neither: no approval is required. `who`: the name of a token; '' where no token was used.

    T:alone            whose such keys there are
    T:alone:<who>      what counts for that person, '<batch id>' or 'retry <batch id>', by the time at which it begins
    T:alone:<who>:n    of each '<rows> <tokens>'
    B 'preparer'       who prepared it
    B 'confirmed'      hash of all that an approver is shown (core/approvals.ts)
    B 'approval'       JSON of the request for an approval that was not used yet (see approvals)
    B 'cleared'        why it may begin: 'free' (no approval was required) | 'alone' | 'rule' (two people approved the rule
                       that made it) | 'approved' | 'rest' (approved after a part of it had been sent)
    B 'judged'         by which limits that was found: '<tokens> <rows>', '-' for none
    B 'byRule'         '1': the schedule of a rule made it, and nobody pays it alone
    B 'begun'          '1': it passed here. A restored store may have forgotten it
    B 'startedAt'      when it passed, or when a journal put the first of its orders back: the one home of whether its
                       set time has come
    B 'sealedStart'    '<startAt> <startZone>' as it was sealed, for the hash
    B 'startAt', 'startZone'    it begins then, as it was said by the wall of that zone; void once it has a startedAt
    B:retries          index → '<ends> <sha1 of its record> <who> <entry in T:alone:<who>, or '-' where another person approved it>':
                       dead letters that may be retried once, as they were then
]==]
--- @include "approvals"
local DAY_MS, HOUR_MS = 86400000, 3600000

local function limitsOf(tokens, rows)
  return { tokens = tonumber(tokens or ''), rows = tonumber(rows or '') }
end

local function isRequired(limits)
  return limits.tokens ~= nil or limits.rows ~= nil
end

--- The limits by which a batch was judged, '<tokens> <rows>', '-' for none.
local function limitsText(limits)
  local function one(most) return most and string.format('%.0f', most) or '-' end
  return one(limits.tokens) .. ' ' .. one(limits.rows)
end

local function aloneKey(T, who)
  return T .. ':alone:' .. string.lower(who)
end

local function forgetAlone(T, who, id)
  redis.call('ZREM', aloneKey(T, who), id)
  redis.call('HDEL', aloneKey(T, who) .. ':n', id)
end

--- Counts rows and tokens for a person at a time, if they may pay all of any 24 hours around it alone; false where not.
local function countAlone(T, who, id, rows, tokens, at, limits)
  local key = aloneKey(T, who)
  local near = redis.call('ZRANGEBYSCORE', key, '(' .. string.format('%.0f', at - DAY_MS), '(' .. string.format('%.0f', at + DAY_MS))
  local allRows, allTokens = rows, tokens
  for _, one in ipairs(near) do
    if one ~= id then
      local r, t = string.match(redis.call('HGET', key .. ':n', one) or '0 0', '^(%d+) (%d+)$')
      allRows, allTokens = allRows + tonumber(r), allTokens + tonumber(t)
    end
  end
  if (limits.tokens and allTokens > limits.tokens) or (limits.rows and allRows > limits.rows) then return false end
  -- Kept for longer than they count: the clock of a store may go back.
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', nowMs() - 7 * DAY_MS))) do forgetAlone(T, who, old) end
  redis.call('SADD', T .. ':alone', string.lower(who))
  redis.call('ZADD', key, string.format('%.0f', at), id)
  redis.call('HSET', key .. ':n', id, string.format('%.0f %.0f', rows, tokens))
  return true
end

--- Whether what a person pays alone with a batch was counted within the last 24 hours. It is being sent, so it counts from now.
local function isCountedNow(T, who, id, now)
  local at = tonumber(redis.call('ZSCORE', aloneKey(T, who or ''), id) or '0')
  if now - at >= DAY_MS then return false end
  if at < now then redis.call('ZADD', aloneKey(T, who), 'XX', string.format('%.0f', now), id) end
  return true
end

--- The time at which the batch is to begin; nil where none was set, or orders of it have been sent.
local function setTime(T, no)
  local set = redis.call('HMGET', batchKey(T, no), 'startAt', 'startedAt')
  return not set[2] and tonumber(set[1] or '') or nil
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

--- The same for a process that sends or prepares it with these limits: what they do not allow one person alone asks for an
--- approval, and keeps asking whatever other limits others have.
local function judgeGate(T, no, limits, now)
  local B = batchKey(T, no)
  local b = redis.call('HMGET', B, 'begun', 'approval', 'cleared', 'preparer', 'id', 'byRule', 'confirmed')
  if not b[1] and not b[2] and b[3] ~= 'rule' then
    local who = not b[6] and b[4]
    local at = math.max(now, setTime(T, no) or 0)
    local isAlone = who and countAlone(T, who, b[5], counter(B .. ':n', 'c:p'), counter(B .. ':n', 't:p'), at, limits)
    if isRequired(limits) and not isAlone then
      if who then forgetAlone(T, who, b[5]) end
      writeRequest(T, 'batch', no, { hash = b[7] or '', who = b[4] or '', at = now })
      redis.call('RPUSH', B .. ':log', cjson.encode({ at = now, who = 'almoner', what = 'asked for an approval', why = cjson.null }))
      batches.touch(no)
    else
      redis.call('HSET', B, 'cleared', isAlone and 'alone' or 'free', 'judged', limitsText(limits))
    end
  end
  local closed = closedGate(T, no, now)
  local state = redis.call('HGET', B, 'state')
  if closed == 'approval' and (state == 'planned' or state == 'running') and stateBefore(T, no, closed) == 'waiting' then
    redis.call('HSET', B, 'state', 'waiting', 'owner', '')
    batches.touch(no)
  end
  return closed
end

--- The batch passes; an approval is used up by it.
local function begin(T, no, now)
  local B = batchKey(T, no)
  local isFirst = redis.call('HSETNX', B, 'startedAt', now) == 1
  if redis.call('HEXISTS', B, 'begun') == 1 then return end
  if readRequest(T, 'batch', no) then redis.call('HSET', B, 'cleared', isFirst and 'approved' or 'rest') end
  redis.call('HSET', B, 'begun', '1')
  redis.call('HDEL', B, 'approval', 'startAt', 'startZone')
end

--- Whether limits by which it was judged are as strict as these.
local function isCovered(judged, limits)
  local tokens, rows = string.match(judged or '', '^(%S+) (%S+)$')
  if not tokens then return false end
  local function covers(known, most) return most == nil or (known ~= '-' and tonumber(known) <= most) end
  return covers(tokens, limits.tokens) and covers(rows, limits.rows)
end

--- A retry that a person gave alone: whoever sends it looks again where their limits are stricter.
local function loosen(T, no, limits)
  local B = batchKey(T, no)
  local b = redis.call('HMGET', B, 'cleared', 'judged')
  if b[1] == 'approved' or b[1] == 'rule' then return end
  if b[1] == 'rest' then redis.call('HSET', B, 'cleared', 'free') end
  local known = limitsText(limits)
  if not b[2] or isCovered(b[2], limits) then redis.call('HSET', B, 'judged', known) end
end

--- Whether a dead letter may be put back to work: its batch was approved, or it may be as it stands now.
local function mayRetry(T, no, index, record, limits, now)
  if not isRequired(limits) then return true end
  local B = batchKey(T, no)
  local b = redis.call('HMGET', B, 'begun', 'cleared')
  if b[1] and (b[2] == 'approved' or b[2] == 'rule') then return true end
  local ends, sha = string.match(redis.call('HGET', B .. ':retries', index) or '', '^(%d+) (%x+) ')
  return ends ~= nil and now < tonumber(ends) and sha == redis.sha1hex(record)
end
