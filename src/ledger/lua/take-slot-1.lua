--[[
  The pace of a realm: requests, not jobs, across all processes. Slot k is granted when its evenly spaced
  time has come and the answer to slot k-N is at least a window old: even spacing alone overflows a sliding
  window by jitter, and a request arrives no later than its answer. Slots are not reserved ahead.

  KEYS[1] the realm
  ARGV[1] N, requests allowed  ARGV[2] W, the window in ms  ARGV[3] ms after which no answer comes any more

  Returns {'go', k} | {'wait', ms}
]]
local SLACK_MS = 50
local T, N, W = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local pace, answers = T .. ':pace', T .. ':pace:a'
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
local state = redis.call('HMGET', pace, 'k', 'at', 'hold', 'holdMs')
local k, at, hold = tonumber(state[1] or '0'), tonumber(state[2] or '0'), tonumber(state[3] or '0')

-- A hold or a slot further away than it can be is a clock that stepped: it only ever makes us wait a window.
local farthest = math.max(W, tonumber(state[4] or '0'))
if hold > now + farthest then
  hold = now + W
  redis.call('HSET', pace, 'hold', string.format('%.3f', hold))
end
-- No grant and no answer lies in the future. The cut is written down, and for all slots at once: cut anew at
-- every asking, a slot would stay out of reach for as long as the step was; cut one by one, every slot would
-- cost a window of its own.
local function clockWentBack(stamp)
  if stamp <= now + W then return false end
  local entries = redis.call('HGETALL', answers)
  for i = 1, #entries, 2 do
    if tonumber(string.sub(entries[i + 1], 2)) > now then
      redis.call('HSET', answers, entries[i], string.sub(entries[i + 1], 1, 1) .. string.format('%.3f', now))
    end
  end
  at = math.min(at, now)
  redis.call('HSET', pace, 'at', string.format('%.3f', at))
  return true
end
clockWentBack(at)

if hold > now then return { 'wait', math.ceil(hold - now) } end
-- A little lateness may be caught up with (timers and round trips are late); idle time may not be saved up.
local even = math.max(at + W / N, now - SLACK_MS)
if even > now then return { 'wait', math.ceil(even - now) } end

local before = redis.call('HGET', answers, k - N)
if before then
  local kind, stamp = string.sub(before, 1, 1), tonumber(string.sub(before, 2))
  if clockWentBack(stamp) then stamp = now end
  if kind == 'a' then
    if now < stamp + W then return { 'wait', math.ceil(stamp + W - now) } end
  elseif now < stamp + tonumber(ARGV[3]) + W then
    -- Not answered yet: it cannot be a window old before a window has gone by from now.
    return { 'wait', math.ceil(math.min(W, stamp + tonumber(ARGV[3]) + W - now)) }
  end
  redis.call('HDEL', answers, k - N)
end
redis.call('HSET', answers, k, string.format('g%.3f', now))
redis.call('HSET', pace, 'k', k + 1, 'at', string.format('%.3f', even))
-- A lower N leaves older entries behind; they are forgotten when they pile up.
if k % N == 0 and redis.call('HLEN', answers) > 2 * N + 16 then
  for _, field in ipairs(redis.call('HKEYS', answers)) do
    if tonumber(field) < k - N then redis.call('HDEL', answers, field) end
  end
end
return { 'go', k }
