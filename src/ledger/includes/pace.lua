--[==[
  What the pace of a realm remembers, besides its slots:

    <realm>:pace     k, at        the next slot and the even time of the last
                     clock, ahead the latest time that a slot or a hold was written at, and how far the pace's clock
                                  is ahead of the store's
                     hold, holdMs the realm holds back until then (Retry-After)
                     wants        when somebody was last kept waiting, to a second
                     last         when a slot was last granted
                     longest, longestAt   the longest window in use, and when it was last used
    <realm>:pace:o   slot -> '<till when an answer may come> <session> <nonce of the call>' of those under way; the
                     session is empty where none is registered: a command that only reads
    <realm>:pace:w   slots by when they were answered, of the longest window
    <realm>:pace:s   slots by when they were granted, of as long and a time-out: answers tell of the window before
    <realm>:pace:l:<requests>/<window in ms>   what was learnt while this rate was configured; another begins anew
                     limit, limitMs, by, since   a limit lower than the configured one: 'h' said by the service's
                                  headers, 'r' found by being refused (see refusals.lua, which keeps more here)
                     tryAt        from then on a few requests more are tried, one by one
                     named        when headers last named that limit
                     others, othersAt   requests a configured window that somebody else makes, smoothed
]==]
--- @include "pace-constants"

local function stamp(ms)
  return string.format('%.3f', ms)
end

--- The pace's clock, by which all its times are written, and how far it is ahead of the store's. It does not go back
--- with that one: slots, holds and tries of a time that is yet to come would make everything stand still till then. It
--- goes on from the latest time written, which was no later than the step, so that nothing seems older than it is.
local function paceNow(pace)
  local seconds, micros = unpack(redis.call('TIME'))
  local clock, ahead = unpack(redis.call('HMGET', pace, 'clock', 'ahead'))
  clock, ahead = tonumber(clock or '0'), tonumber(ahead or '0')
  local now = tonumber(seconds) * 1000 + tonumber(micros) / 1000 + ahead
  if now >= clock then return now, ahead end
  ahead = ahead + clock - now
  redis.call('HSET', pace, 'ahead', stamp(ahead))
  return clock, ahead
end

local function paceKeys(T)
  return T .. ':pace', T .. ':pace:o', T .. ':pace:w', T .. ':pace:s'
end

--- Calls with the slot, till when an answer may come, and whose it is, as it is written.
local function eachUnderWay(T, see)
  local entries = redis.call('HGETALL', T .. ':pace:o')
  for i = 1, #entries, 2 do
    local till, whose = string.match(entries[i + 1], '^([%d.]+)(.*)$')
    see(tonumber(entries[i]), tonumber(till), whose)
  end
end

--- Whether it was under way until now. Told twice, the later time counts: that only makes us wait longer.
local function noteAnswered(T, slot, at)
  redis.call('ZADD', T .. ':pace:w', stamp(at), slot)
  return redis.call('HDEL', T .. ':pace:o', slot) == 1
end

--- How many slots were granted from that moment on.
local function grantedSince(T, time)
  return redis.call('ZCOUNT', T .. ':pace:s', stamp(time), '+inf')
end

--- Counts of requests that are this close are the same: some are on their way while others arrive.
local function slack(requests, windowMs)
  return PACE.SLACK_MIN + math.ceil(requests * PACE.SLACK_MS / windowMs)
end

--- What was learnt is forgotten when nobody has heard of it for so long.
local function keptMs(windowMs)
  return math.max(PACE.KEPT_MS, PACE.KEPT_WINDOWS * windowMs)
end

local function learntKey(T, requests, windowMs)
  return T .. ':pace:l:' .. (requests == math.huge and '' or string.format('%.0f', requests)) .. '/' .. windowMs
end

local function dropLimit(key)
  redis.call('HDEL', key, 'limit', 'limitMs', 'by', 'since', 'tryAt', 'named', 'below', 'evidence', 'again')
end

--- The limits to keep to now, {N, W, others} each: the configured one, lower where refusals showed it, and a lower one
--- that the realm's headers name, which may be over another window. All without what is reserved and what others use,
--- which are known for the configured window; what was found by being refused is our own share already. Also: whether
--- it was found so.
local function paceLimits(T, configured, configuredMs, reserve, now)
  local limit, limitMs, by, tryAt, othersMet, othersAt =
    unpack(redis.call('HMGET', learntKey(T, configured, configuredMs), 'limit', 'limitMs', 'by', 'tryAt', 'others', 'othersAt'), 1, 6)
  limit, limitMs = tonumber(limit or '0'), tonumber(limitMs or '0')
  local byRefusals = by == 'r'
  local isFresh = othersMet and now < tonumber(othersAt) + PACE.NAMED_WINDOWS * math.max(configuredMs, limitMs)
  local limits = {}
  local function keepTo(requests, windowMs)
    local part = windowMs / configuredMs
    local others = isFresh and math.floor(tonumber(othersMet) * part) or 0
    if others < math.max(PACE.OTHERS_MIN, PACE.OTHERS_SHARE * requests) then others = 0 end
    local N = math.max(1, math.floor(requests - reserve * part - others))
    limits[#limits + 1] = { N = N, W = windowMs, others = others }
    return limits[#limits]
  end
  local ours = configured < math.huge and keepTo(configured, configuredMs)
  if by == 'h' then keepTo(limit, limitMs) end
  if byRefusals then
    local tried = now - tonumber(tryAt)
    if tried > 0 then
      -- One by one: what is refused is known before the next leaves, where all at once would be refused at once.
      local more = slack(configured, configuredMs) + 1
      limit = limit + math.min(more, math.ceil(more * tried / (PACE.MORE_WITHIN * configuredMs)))
    end
    ours.N = math.min(ours.N, limit)
  end
  return limits, byRefusals
end

--- Requests a window of the first of these limits that somebody else makes.
local function othersOf(limits)
  local first = unpack(limits)
  return first and first.others or 0
end
