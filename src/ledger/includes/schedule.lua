--[==[
  What became of a scheduled time, and that it is dealt with: once, whoever does it, and however often it is asked.
  A time that the store has not reached is noted by nobody: noted by a machine whose clock is ahead, it would silence the
  schedule until then. Needs `record`.

    T:rules:last        rule → JSON of what became of the last time of its schedule; `at` is that time
    T:rules:schedules   rule → JSON of its entry (rules/approvals.ts)
]==]
local AHEAD_MS = 5000 -- a store that another has taken over from has a clock of its own
local function noteScheduled(T, rule, last)
  local known = redis.call('HGET', T .. ':rules:last', rule)
  if known == last then return true end
  local at = cjson.decode(last).at
  if at > nowMs() + AHEAD_MS or known and cjson.decode(known).at >= at then return false end
  redis.call('HSET', T .. ':rules:last', rule, last)
  return true
end

--- Whether text and audience have the go of two people: one who asked for it, and another.
local function hasGoOfTwo(T, schedule)
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
