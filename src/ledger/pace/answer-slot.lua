--[==[
  Requests of slots were answered, or timed out, or never left; and what the answers said of the limit.

  A lower limit than the configured one is learnt from the service's headers, or, where it sends none, from
  being refused; all processes keep to it. Requests that the service counts and that are not ours are
  somebody else's on the same realm: we make room for them.

  KEYS[1] the realm
  ARGV[1] N, requests allowed ('' for no limit)  ARGV[2] W, the window in ms  ARGV[3] requests left for others
  then for each answer, '' for what is not known:
    slot, ms to hold back (Retry-After), 'refused' for the rate or 'passed', limit, remaining, window in ms

  Returns what was learnt, in words: 'limit', requests, ms, 'h' | 'r' · 'free' · 'others', requests a window · 'alone'
]==]
--- @include "pace"
--- @include "refusals"
local T, configured, configuredMs, reserve = KEYS[1], tonumber(ARGV[1]) or math.huge, tonumber(ARGV[2]), tonumber(ARGV[3])
local answers = ARGV
local pace, underWay, _, history = paceKeys(T)
local learntHere = learntKey(T, configured, configuredMs)
local now = paceNow(pace)
local learnt = {}

local function learn(...)
  for _, word in ipairs({ ... }) do learnt[#learnt + 1] = tostring(word) end
end

local function learnLimit(limit, windowMs)
  local known, knownMs, by, named = unpack(redis.call('HMGET', learntHere, 'limit', 'limitMs', 'by', 'named'), 1, 4)
  local heldLimit, heldMs = tonumber(known or '0'), tonumber(knownMs or '0')
  -- A realm may have two, and name now the one and now the other: the lower stands as long as it is named.
  local isNamed = by == 'h' and heldMs ~= windowMs and now < tonumber(named or '0') + PACE.NAMED_WINDOWS * heldMs
  if isNamed and limit * heldMs >= heldLimit * windowMs then return end
  local same = limit == configured and math.abs(windowMs - configuredMs) < PACE.WINDOW_ROUNDED_MS
  if same or limit * configuredMs >= configured * windowMs then
    if known then
      dropLimit(learntHere)
      learn('free')
    end
    return
  end
  if heldLimit ~= limit or heldMs ~= windowMs or by ~= 'h' then
    learn('limit', limit, windowMs, 'h')
    redis.call('HSET', learntHere, 'limit', limit, 'limitMs', windowMs, 'by', 'h', 'since', stamp(now))
  end
  redis.call('HSET', learntHere, 'named', stamp(now))
  redis.call('PEXPIRE', learntHere, keptMs(configuredMs))
end

local given = {
  T = T,
  key = learntHere,
  k = tonumber(redis.call('HGET', pace, 'k') or '0'),
  N = math.max(1, configured - reserve),
  W = configuredMs,
  slack = slack(configured, configuredMs),
  now = now,
}

--- Ours are all that can have arrived in the window the service counted: granted by now, and not so long
--- before it that they arrived earlier, however slow answers are at the moment. Whatever is left is not ours.
local function noteOthers(sentAt, limit, remaining, windowMs)
  local since = sentAt - windowMs - 2 * (now - sentAt)
  local ours = grantedSince(T, since)
  -- There may be more that nobody remembers, or that left before a limit was heard of.
  if ours < given.k and ours == redis.call('ZCARD', history) then return end
  local others, othersAt, limitedSince = unpack(redis.call('HMGET', learntHere, 'others', 'othersAt', 'since'), 1, 3)
  if configured == math.huge and now < tonumber(limitedSince or now) + windowMs + 2 * (now - sentAt) then return end
  local before = othersOf(paceLimits(T, configured, configuredMs, reserve, now))
  local extra = math.max(0, limit - remaining - ours) * configuredMs / windowMs
  local old = others and now < tonumber(othersAt) + PACE.NAMED_WINDOWS * math.max(configuredMs, windowMs) and tonumber(others) or 0
  redis.call('HSET', learntHere, 'others', string.format('%.2f', (1 - PACE.OTHERS_NEW_SHARE) * old + PACE.OTHERS_NEW_SHARE * extra), 'othersAt', stamp(now))
  redis.call('PEXPIRE', learntHere, keptMs(configuredMs))
  local after = othersOf(paceLimits(T, configured, configuredMs, reserve, now))
  if before == 0 and after > 0 then learn('others', after) end
  if before > 0 and after == 0 then learn('alone') end
end

local isHeard = false
for i = 4, #answers, 6 do
  local slot, holdMs, became, limit, remaining, windowMs = unpack(answers, i, i + 5)
  limit, remaining, windowMs = tonumber(limit), tonumber(remaining), tonumber(windowMs)
  local granted = redis.call('ZSCORE', history, slot)
  granted = granted and tonumber(granted)
  local isKnown = granted or redis.call('HEXISTS', underWay, slot) == 1
  local isFirst = isKnown and noteAnswered(T, slot, now)
  isHeard = isHeard or isKnown or holdMs ~= ''
  if holdMs ~= '' then
    local hold = now + tonumber(holdMs)
    if hold > tonumber(redis.call('HGET', pace, 'hold') or '0') then
      redis.call('HSET', pace, 'hold', stamp(hold), 'holdMs', holdMs)
    end
  end
  -- Of another limit than the configured one nobody knows over how long it is counted, unless it is told.
  if limit and limit > 0 and (windowMs or limit == configured) then
    learnLimit(limit, windowMs or configuredMs)
    if remaining and isFirst and granted then noteOthers(granted, limit, remaining, windowMs or configuredMs) end
  elseif granted and configured < math.huge then
    local note = became == 'refused' and noteRefused or became == 'passed' and notePassed
    local news = note and note(given, tonumber(slot), granted, tonumber(holdMs) or 0)
    if news then learn(unpack(news)) end
  end
end
if isHeard then redis.call('HSET', pace, 'clock', stamp(now)) end
return learnt
