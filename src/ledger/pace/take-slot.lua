--[==[
  The pace of a realm: requests, not jobs, across all processes. A request is granted when its evenly spaced time has come
  and fewer than N are under way or were answered within the last window: even spacing alone overflows a sliding window by
  jitter, and a request arrives no later than its answer. In which order they are answered does not matter: behind a slow
  one nobody waits. Slots are not reserved ahead: as many as are due are granted, at most as many as are wanted now.

  KEYS[1] the realm
  ARGV[1] N, requests allowed ('' for no limit)  ARGV[2] W, the window in ms  ARGV[3] ms after which no answer comes any more
  ARGV[4] requests left for others  ARGV[5] slots wanted  ARGV[6] the session that asks, or ''  ARGV[7] nonce
  ARGV[8] '1' when the reply to this call was lost: what it was granted then is its own, and is told again

  What was granted, and what was allowed meanwhile, is counted by day (see totals). The time since the grant before counts
  as allowed, but for a rest: then there was nothing to send, and only what is granted counts.

  Returns {'go', k, k + 1, …} | {'wait', ms} | {'free'} (nothing limits the realm)
]==]
--- @include "pace"
--- @include "day"
local T, configured, configuredMs, timeoutMs = KEYS[1], tonumber(ARGV[1]) or math.huge, tonumber(ARGV[2]), tonumber(ARGV[3])
local reserve, wanted, whose, isRepeated = tonumber(ARGV[4]), tonumber(ARGV[5]), ' ' .. ARGV[6] .. ' ' .. ARGV[7], ARGV[8] == '1'
local pace, underWay, window, history = paceKeys(T)
local now = paceNow(pace)
local till = stamp(now + timeoutMs)
if isRepeated then
  local told = {}
  eachUnderWay(T, function(slot, _, by)
    if by == whose then told[#told + 1] = slot end
  end)
  table.sort(told)
  -- They leave only now.
  for _, slot in ipairs(told) do redis.call('HSET', underWay, slot, till .. whose) end
  if #told > 0 then return { 'go', unpack(told) } end
end
local limits, byRefusals = paceLimits(T, configured, configuredMs, reserve, now)
local k, at, hold, wants, longest, longestAt, last =
  unpack(redis.call('HMGET', pace, 'k', 'at', 'hold', 'wants', 'longest', 'longestAt', 'last'), 1, 7)
k, at, hold, wants = tonumber(k or '0'), tonumber(at or '0'), tonumber(hold or '0'), tonumber(wants or '0')

local function keptWaiting(ms)
  if now > wants + PACE.WAITING_NOTED_MS then redis.call('HSET', pace, 'wants', stamp(now)) end
  return { 'wait', math.ceil(ms) }
end

if hold > now then return keptWaiting(hold - now) end
if #limits == 0 then return { 'free' } end
local W, shortest, gap = 0, math.huge, 0
for _, limit in ipairs(limits) do
  W, shortest, gap = math.max(W, limit.W), math.min(shortest, limit.W), math.max(gap, limit.W / limit.N)
end

-- Processes may be configured for windows of other lengths, and headers may name one: what a longer one needs is kept.
local knowsWindow = longest
longest, longestAt = longest and tonumber(longest), longestAt and tonumber(longestAt)
if not longest or W >= longest or now > longestAt + longest then
  longest, longestAt = W, now
end
-- Slots were granted, and for how long a window is not known.
if not knowsWindow and k > 0 then
  redis.call('HSET', pace, 'longest', longest, 'longestAt', stamp(longestAt), 'at', stamp(now + W), 'clock', stamp(now))
  return keptWaiting(W)
end

--- How many more may leave now, and ms until one may where none does.
local function room()
  local free, waitMs, count = math.huge, 0, redis.call('HLEN', underWay)
  for _, limit in ipairs(limits) do
    local from = '(' .. stamp(now - limit.W)
    local left = limit.N - redis.call('ZCOUNT', window, from, '+inf') - count
    if left <= 0 then
      -- What is under way cannot be a window old before a window has gone by from now. Where far too many are in the
      -- window, one of the next is looked at again: a far one takes long to find.
      local _, leaves = unpack(redis.call('ZRANGEBYSCORE', window, from, '+inf', 'WITHSCORES', 'LIMIT', math.min(PACE.LOOK_AHEAD_MAX, 0 - left), 1))
      waitMs = math.max(waitMs, leaves and tonumber(leaves) + limit.W - now or limit.W)
    end
    free = math.min(free, left)
  end
  return free, waitMs
end
local free, waitMs = room()
if free <= 0 then
  -- What no answer comes to any more was answered at its time-out.
  eachUnderWay(T, function(slot, lastMoment)
    if lastMoment <= now then noteAnswered(T, slot, lastMoment) end
  end)
  free, waitMs = room()
end
if free <= 0 then return keptWaiting(waitMs) end

-- A little lateness may be caught up with (timers, round trips and busy machines are late), and more by those who were
-- kept waiting: a machine that stood still for a moment. Idle time may not be saved up, and a hold counts only against
-- a limit that is known. What keeps the window is the rule above, whatever is caught up with here.
local late = math.min(PACE.LATE_WAITING_SHARE * shortest, PACE.LATE_WAITING_MAX_MS)
if now > wants + late + PACE.WAITING_NOTED_MS then
  late = math.min(PACE.LATE_RESTED_SHARE * shortest, PACE.LATE_RESTED_MAX_MS)
end
local earliest = math.max(now - math.max(PACE.LATE_MIN_MS, late), byRefusals and 0 or hold)
local granted = { 'go' }
while #granted <= math.min(wanted, free) do
  local even = math.max(at + gap, earliest)
  if even > now then
    if #granted == 1 then return keptWaiting(even - now) end
    break
  end
  redis.call('HSET', underWay, k, till .. whose)
  redis.call('ZADD', history, stamp(now), k)
  granted[#granted + 1] = k
  k, at = k + 1, even
end
redis.call('HSET', pace, 'k', k, 'at', stamp(at), 'clock', stamp(now), 'longest', longest, 'longestAt', stamp(longestAt),
  'last', stamp(now))
local sinceLast = last and now - tonumber(last) or math.huge
local isRest = sinceLast > math.max(PACE.REST_MS, 2 * gap)
local allowed = isRest and 1000 * (#granted - 1) or math.floor(1000 * sinceLast / gap)
local work = T .. ':work:' .. utcDay(now)
redis.call('HINCRBY', work, 'granted', #granted - 1)
redis.call('HINCRBY', work, 'allowed', allowed)
redis.call('SADD', T .. ':sums', utcDay(now))
if #granted > wanted and wants > 0 then redis.call('HDEL', pace, 'wants') end

-- A few at a time: after a rest or with a lower limit it may be a million. More than two are never kept, whatever the
-- realm's headers named: no limit is larger than one.
local function forget(key, before)
  local old = math.max(redis.call('ZCOUNT', key, '-inf', stamp(before)), redis.call('ZCARD', key) - PACE.SLOTS_KEPT_MAX)
  if old > 0 then redis.call('ZREMRANGEBYRANK', key, 0, math.min(old, PACE.SLOTS_FORGOTTEN_AT_ONCE) - 1) end
end
forget(window, now - longest)
forget(history, now - longest - timeoutMs)
return granted
