--[[
  The pace of a realm: requests, not jobs, across all processes. Slot k is granted when its evenly spaced
  time has come and the answer to slot k-N is at least a window old: even spacing alone overflows a sliding
  window by jitter, and a request arrives no later than its answer. Slots are not reserved ahead: as many as
  are due are granted, at most as many as are wanted now.

  KEYS[1] the realm
  ARGV[1] N, requests allowed ('' for no limit)  ARGV[2] W, the window in ms  ARGV[3] ms after which no answer comes any more
  ARGV[4] requests left for others  ARGV[5] slots wanted  ARGV[6] the session that asks, or ''  ARGV[7] nonce
  ARGV[8] '1' when the reply to this call was lost: what it was granted then is its own, and is told again

  Returns {'go', k, k + 1, …} | {'wait', ms} | {'free'} (nothing limits the realm)
]]
--- @include "pace"
local T, configured, wanted = KEYS[1], tonumber(ARGV[1]) or math.huge, tonumber(ARGV[5])
local whose = ' ' .. ARGV[6] .. ' ' .. ARGV[7]
local pace, answers, parts = T .. ':pace', T .. ':pace:a', T .. ':pace:t'
if ARGV[8] == '1' then
  local told, entries = {}, redis.call('HGETALL', answers)
  for i = 1, #entries, 2 do
    if select(3, readSlot(entries[i + 1])) == whose then told[#told + 1] = tonumber(entries[i]) end
  end
  table.sort(told)
  if #told > 0 then return { 'go', unpack(told) } end
end
local now = paceNow(pace)
local N, W, _, byRefusals = paceLimit(T, configured, tonumber(ARGV[2]), tonumber(ARGV[4]), now)
local state = redis.call('HMGET', pace, 'k', 'at', 'hold', 'wants')
local k, at, hold = tonumber(state[1] or '0'), tonumber(state[2] or '0'), tonumber(state[3] or '0')

local function keptWaiting(ms)
  if not state[4] then redis.call('HSET', pace, 'wants', '1') end
  return { 'wait', math.ceil(ms) }
end

if hold > now then return keptWaiting(hold - now) end
if N == math.huge then return { 'free' } end

-- A little lateness may be caught up with (timers, round trips and busy machines are late), and more by those who were
-- kept waiting: a machine that stood still for a moment. Idle time may not be saved up, and a hold counts only against
-- a limit that is known. What keeps the window is the rule below, whatever is caught up with here.
local late = state[4] and math.min(0.4 * W, 10000) or math.min(W / 8, 1000)
local earliest = math.max(now - math.max(50, late), byRefusals and 0 or hold)

--- Ms until slot k may be granted, and its even time.
local function waitFor()
  local even = math.max(at + W / N, earliest)
  if even > now then return even - now end
  local before = redis.call('HGET', answers, k - N)
  if before then
    local kind, time = readSlot(before)
    if kind == 'a' then
      if now < time + W then return time + W - now end
    elseif now < time + tonumber(ARGV[3]) + W then
      -- Not answered yet: it cannot be a window old before a window has gone by from now. Its answer may
      -- come at any moment, so the asker looks again well before that.
      return math.min(W, time + tonumber(ARGV[3]) + W - now)
    end
  end
  return 0, even
end

local granted = { 'go' }
while #granted <= wanted do
  local wait, even = waitFor()
  if wait > 0 then
    if #granted == 1 then return keptWaiting(wait) end
    break
  end
  redis.call('HSET', answers, k, 'g' .. stamp(now) .. whose)
  granted[#granted + 1] = k
  k, at = k + 1, even
end
redis.call('HSET', pace, 'k', k, 'at', stamp(at), 'clock', stamp(now))
if #granted > wanted then redis.call('HDEL', pace, 'wants') end

-- What the realm's limit may go up to again is kept; older slots are forgotten when they pile up.
local kept = configured == math.huge and N or math.max(N, configured)
for slot = granted[2], k - 1 do redis.call('HDEL', answers, slot - kept - 1) end
if redis.call('HLEN', answers) > 2 * kept + 64 then
  for _, field in ipairs(redis.call('HKEYS', answers)) do
    if tonumber(field) < k - kept then redis.call('HDEL', answers, field) end
  end
end
local part = math.floor(now * PARTS / W)
if redis.call('HSETNX', parts, part, granted[2]) == 1 and redis.call('HLEN', parts) > 3 * PARTS then
  for _, field in ipairs(redis.call('HKEYS', parts)) do
    if tonumber(field) < part - 2 * PARTS or tonumber(field) > part then redis.call('HDEL', parts, field) end
  end
end
return granted
