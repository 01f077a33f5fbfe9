--[==[
  Which batches may begin: where a realm requires a second person, only what one has looked at, or what its preparer
  may pay alone; and none before its time. Needs `record`.

    T 'overTokens', 'overRows'  the most that one person may prepare in a day alone; neither: nothing is required. Kept at the
                                strictest that any profile ever said; made weaker by two people only
    T 'lowering'                JSON {who, overTokens, overRows, at}: what a first person wants them to be
    T 'forgotAt'                when the store was last found to have forgotten something: what anybody did in that day alone
                                may be forgotten with it, and a go that it remembers may have been used
    T:prepared:<who>            '<batch id> <rows> <tokens>' by time: what went without a second person
    B 'preparer'                by the name of a token; none: nobody is known
    B 'approval'                JSON {who, at, ends, forgotAt}: a go that was not used yet
    B 'cleared'                 'free' (nothing was required when it began) | 'alone <rows> <tokens> <when>' (with everything of
                                the day up to then; for a day, so that no days add up) | 'rule' (it had the go of two) | the go that it used
    B 'begun'                   '1': it passed here. A restored store may have forgotten it
    B 'startedAt'               when it passed, or when a journal put the first of its orders back: the one home of whether its
                                set time has come. An approval that was forgotten is asked for again all the same
    B 'asksGo'                  '1': a retry of its dead letters was refused for want of a second person
    B 'startAt', 'startZone'    it begins then, as it was said by the wall of that zone; void once it has a startedAt
]==]
local DAY_MS, HOUR_MS = 86400000, 3600000
--- Of what somebody prepared so many are kept beyond their day.
local PREPARED_MAX = 1000

local function requirement(T)
  local most = redis.call('HMGET', T, 'overTokens', 'overRows')
  return tonumber(most[1] or ''), tonumber(most[2] or '')
end

local function isRequired(T)
  local tokens, rows = requirement(T)
  return tokens ~= nil or rows ~= nil
end

--- Stricter by what a profile says ('' for nothing), never weaker.
local function keepRequirement(T, overTokens, overRows)
  for field, given in pairs({ overTokens = overTokens, overRows = overRows }) do
    local most, known = tonumber(given), tonumber(redis.call('HGET', T, field) or '')
    if most and (not known or most < known) then
      redis.call('HSET', T, field, string.format('%.0f', most))
      batches.touchOpen(T)
    end
  end
end

local function isWithin(T, rows, tokens)
  local overTokens, overRows = requirement(T)
  return not (overTokens and tokens > overTokens) and not (overRows and rows > overRows)
end

--- Two spellings of a name are one person.
local function isSamePerson(one, other)
  return string.lower(one) == string.lower(other)
end

--- What a person has prepared alone within a day up to now.
local function preparedAlone(T, who, now)
  local key = T .. ':prepared:' .. string.lower(who)
  local rows, tokens = 0, 0
  -- Only counted by the clock: a glitch of it must not empty the account.
  for _, one in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. string.format('%.0f', now - DAY_MS), '+inf')) do
    local r, t = string.match(one, ' (%d+) (%d+)$')
    rows, tokens = rows + tonumber(r), tokens + tonumber(t)
  end
  return rows, tokens
end

--- Notes that the batch may begin without a second person, if everything its preparer made alone that day may.
--- `besides`: what they made in other books of the same realm id.
local function clearAlone(T, no, who, rows, tokens, besides, now)
  local forgotAt = tonumber(redis.call('HGET', T, 'forgotAt') or '')
  if forgotAt and now - forgotAt < DAY_MS then return end
  local hadRows, hadTokens = preparedAlone(T, who, now)
  local allRows, allTokens = hadRows + besides[1] + rows, hadTokens + besides[2] + tokens
  if not isWithin(T, allRows, allTokens) then return end
  local B = batchKey(T, no)
  redis.call('HSET', B, 'cleared', string.format('alone %.0f %.0f %.0f', allRows, allTokens, now))
  local key = T .. ':prepared:' .. string.lower(who)
  redis.call('ZADD', key, now, redis.call('HGET', B, 'id') .. string.format(' %.0f %.0f', rows, tokens))
  local extra = redis.call('ZCARD', key) - PREPARED_MAX
  if extra <= 0 then return end
  local old = redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', now - DAY_MS), 'LIMIT', 0, extra)
  for _, one in ipairs(old) do redis.call('ZREM', key, one) end
end

--- Whether what a batch was cleared by is enough for what is required at this moment.
local function covers(T, cleared, now)
  if not isRequired(T) then return true end
  if not cleared or cleared == 'free' then return false end
  local rows, tokens, at = string.match(cleared, '^alone (%d+) (%d+) (%d+)$')
  if not rows then return true end
  -- The day's account that it was counted into may have been short of what was forgotten.
  if tonumber(at) <= tonumber(redis.call('HGET', T, 'forgotAt') or '-1') then return false end
  return now - tonumber(at) < DAY_MS and isWithin(T, tonumber(rows), tonumber(tokens))
end

local function isGo(T, approval, now)
  if not approval then return false end
  local go = cjson.decode(approval)
  return now < go.ends and go.forgotAt == (redis.call('HGET', T, 'forgotAt') or '')
end

--- Whether dead letters of the batch may be put back to work.
local function mayRetry(T, no, now)
  local gate = redis.call('HMGET', batchKey(T, no), 'cleared', 'approval')
  return covers(T, gate[1], now) or isGo(T, gate[2], now)
end

--- The time at which the batch is to begin; nil where none was set, or orders of it have been sent.
local function setTime(T, no)
  local set = redis.call('HMGET', batchKey(T, no), 'startAt', 'startedAt')
  return not set[2] and tonumber(set[1] or '') or nil
end

--- Why the batch may not begin now: 'approval' | 'start-time' | 'start-missed'; nil where it may, or has.
local function closedGate(T, no, now)
  local gate = redis.call('HMGET', batchKey(T, no), 'begun', 'cleared', 'approval')
  if gate[1] then return nil end
  local startAt = setTime(T, no)
  if not covers(T, gate[2], math.max(now, startAt or 0)) and not isGo(T, gate[3], now) then return 'approval' end
  if startAt and now < startAt then return 'start-time' end
  if startAt and now > startAt + HOUR_MS then return 'start-missed' end
  return nil
end

--- The batch passes; a go is used up by it.
local function begin(T, no, now)
  local B = batchKey(T, no)
  local gate = redis.call('HMGET', B, 'begun', 'cleared', 'approval')
  redis.call('HSETNX', B, 'startedAt', now)
  if gate[1] then return end
  local by = gate[2] or 'free'
  if not covers(T, gate[2], now) then by = gate[3] end
  redis.call('HSET', B, 'begun', '1', 'cleared', by)
  redis.call('HDEL', B, 'approval', 'startAt', 'startZone')
end
