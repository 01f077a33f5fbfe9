--[==[
  What became of a scheduled time, and that it is dealt with: once, whoever does it, and however often it is asked.
  A time that the store has not reached is noted by nobody: noted by a machine whose clock is ahead, it would silence the
  schedule until then. Times that passed without a run go onto the list of missed ones in the same step, and stay there
  until a person takes them off. Needs `record`.

    T:rules:last        rule → JSON of what became of the last time of its schedule; `at` is that time
    T:rules:past           the rules that have such times
    T:rules:past:<rule>    the same for each time by itself, by time
    T:rules:missed         rule → how many missed times have left its list because it was full
    T:rules:missed:<rule>  JSON {at, period, zone, why, notedAt} of each missed time, by time
    T:rules:schedules   rule → JSON of its entry (rules/approvals.ts)
]==]
local AHEAD_MS = 5000 -- a store that another has taken over from has a clock of its own
local TIMES_KEPT = 1000 -- of each rule, the newest

--- Removes all but the newest; returns how many.
local function trimTimes(key)
  local extra = redis.call('ZCARD', key) - TIMES_KEPT
  return extra > 0 and redis.call('ZREMRANGEBYRANK', key, 0, extra - 1) or 0
end

--- Keeps what became of a time. One entry for each: two schedulers and a call that is repeated put none there twice.
local function putPast(T, rule, at, json)
  local key = T .. ':rules:past:' .. rule
  redis.call('SADD', T .. ':rules:past', rule)
  redis.call('ZREMRANGEBYSCORE', key, at, at)
  redis.call('ZADD', key, at, json)
  trimTimes(key)
end

--- Puts times on the list; one that stands there keeps the reason that it has. `missed`: {zone, older: how many came before
--- those that are listed, times: [[at, period, why], …]}.
local function keepMissed(T, rule, missed, after)
  local key = T .. ':rules:missed:' .. rule
  local now = nowMs()
  local added = 0
  for _, one in ipairs(missed.times) do
    local time, period, why = unpack(one)
    local at = string.format('%.0f', time)
    if time > after and time <= now + AHEAD_MS and redis.call('ZCOUNT', key, at, at) == 0 then
      local json = cjson.encode({ period = period, zone = missed.zone, why = why })
      redis.call('ZADD', key, at, string.format('{"at":%s,"notedAt":%.0f,%s', at, now, string.sub(json, 2)))
      added = added + 1
    end
  end
  if added == 0 then return end
  redis.call('HINCRBY', T .. ':rules:missed', rule, trimTimes(key) + missed.older)
end

--- Takes a time off the list; false where it does not stand there.
local function dropMissed(T, rule, at)
  local key = T .. ':rules:missed:' .. rule
  if redis.call('ZREMRANGEBYSCORE', key, at, at) == 0 then return false end
  if redis.call('EXISTS', key) == 0 then redis.call('HDEL', T .. ':rules:missed', rule) end
  return true
end

--- `missed`: see keepMissed; nil or null for none.
local function noteScheduled(T, rule, last, missed)
  local known = redis.call('HGET', T .. ':rules:last', rule)
  if known == last then return true end
  local at = cjson.decode(last).at
  if at > nowMs() + AHEAD_MS or known and cjson.decode(known).at >= at then return false end
  redis.call('HSET', T .. ':rules:last', rule, last)
  local time = string.format('%.0f', at)
  putPast(T, rule, time, last)
  -- It may have been listed while it waited, or before its schedule was to be another one.
  if cjson.decode(last).result ~= 'missed' then dropMissed(T, rule, time) end
  if type(missed) == 'table' then keepMissed(T, rule, missed, 0) end
  return true
end

--- Whether two people approved this text with these members.
local function isApprovedByTwo(T, schedule)
  local text = redis.call('HGET', T .. ':rules:schedules', schedule.rule)
  local go = text and cjson.decode(text).approved
  if type(go) ~= 'table' or cjson.decode(text).hash ~= schedule.hash or go.audience ~= schedule.audience then return false end
  return type(go.asked) == 'string' and string.lower(go.asked) ~= string.lower(go.who)
end

-- A person has taken the schedule or its go away, given another text its go since, paused it, or said that this time is
-- to be skipped. A go counts for the times after it.
local function isHeldBack(T, rule, hash, last)
  local text = redis.call('HGET', T .. ':rules:schedules', rule)
  if not text then return true end
  local entry, at = cjson.decode(text), cjson.decode(last).at
  if entry.hash ~= hash or type(entry.approved) ~= 'table' or entry.approved.at >= at then return true end
  return type(entry.paused) == 'table' or type(entry.skip) == 'table' and entry.skip.time == at
end
