--[[
  What the pace of a realm remembers, besides its slots:

    <realm>:pace     k, at        the next slot and the even time of the last
                     hold, holdMs the realm holds back until then (Retry-After)
                     limit, limitMs, limitAt, limitBy   a limit lower than the configured one: 'h' said by
                                  the service's headers, 'r' found by being refused
                     others, othersAt   requests a window that somebody else makes, smoothed
    <realm>:pace:a   slot -> 'g<granted> <session> <nonce of the call>' | 'a<answered>'; the session is empty
                     where none is registered: a command that only reads
    <realm>:pace:t   number of a twentieth of a window -> the first slot granted in it
]]
local PARTS = 20
--- Fewer requests of others than this share of the limit are jitter.
local OTHERS_SHARE = 0.15
--- A limit found by being refused is tried again after so many quiet windows, a tenth higher.
local QUIET_WINDOWS = 10

local function paceNow()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
end

local function stamp(ms)
  return string.format('%.3f', ms)
end

--- 'g' or 'a', the time, and whose slot it is, as it is written: '' when answered, and where 0.1.0 granted it.
local function readSlot(text)
  local kind, time, whose = string.match(text, '^(%a)([%d.]+)(.*)$')
  return kind, tonumber(time), whose
end

--- Requests and window to keep to now: the configured ones, or lower ones that were learnt, without what is
--- reserved and what others use.
local function paceLimit(T, configured, configuredMs, reserve, now)
  local learnt = redis.call('HMGET', T .. ':pace', 'limit', 'limitMs', 'limitAt', 'limitBy', 'others', 'othersAt')
  local N, W = configured, configuredMs
  if learnt[1] and learnt[4] == 'r' and now > tonumber(learnt[3]) + QUIET_WINDOWS * tonumber(learnt[2]) then
    local higher = math.floor(tonumber(learnt[1]) * 1.1) + 1
    if higher * configuredMs >= configured * tonumber(learnt[2]) then
      redis.call('HDEL', T .. ':pace', 'limit', 'limitMs', 'limitAt', 'limitBy')
      learnt[1] = false
    else
      redis.call('HSET', T .. ':pace', 'limit', higher, 'limitAt', stamp(now))
      learnt[1] = tostring(higher)
    end
  end
  if learnt[1] then N, W = tonumber(learnt[1]), tonumber(learnt[2]) end
  local others = 0
  if learnt[5] and now < tonumber(learnt[6]) + 2 * W then others = math.floor(tonumber(learnt[5])) end
  if others < math.max(3, OTHERS_SHARE * N) then others = 0 end
  return math.max(1, N - reserve - others), W, others
end
