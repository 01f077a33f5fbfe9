--[[
  Requests of slots were answered, or timed out, or never left; and what the answers said of the limit.

  A lower limit than the configured one is learnt from the service's headers, or, where it sends none, from
  being refused; all processes keep to it. Requests that the service counts and that are not ours are
  somebody else's on the same realm: we make room for them.

  KEYS[1] the realm
  ARGV[1] N, requests allowed ('' for no limit)  ARGV[2] W, the window in ms  ARGV[3] requests left for others
  then for each answer, '' for what is not known:
    slot, ms to hold back (Retry-After), '1' when refused for the rate, limit, remaining, window in ms

  Returns what was learnt, in words: 'limit', requests, ms, 'h' | 'r' · 'free' · 'others', requests a window · 'alone'
]]
--- @include "pace"
local T = KEYS[1]
local pace, answers, parts = T .. ':pace', T .. ':pace:a', T .. ':pace:t'
local configured, configuredMs, reserve = tonumber(ARGV[1]) or math.huge, tonumber(ARGV[2]), tonumber(ARGV[3])
local now = paceNow()
local learnt = {}

local function learn(...)
  for _, word in ipairs({ ... }) do learnt[#learnt + 1] = tostring(word) end
end

local function learnLimit(limit, windowMs)
  local held = redis.call('HMGET', pace, 'limit', 'limitMs')
  -- Headers round a window up to whole seconds.
  local same = limit == configured and math.abs(windowMs - configuredMs) < 1000
  if same or limit * configuredMs >= configured * windowMs then
    if held[1] then
      redis.call('HDEL', pace, 'limit', 'limitMs', 'limitAt', 'limitBy')
      learn('free')
    end
    return
  end
  if tonumber(held[1]) ~= limit or tonumber(held[2]) ~= windowMs then learn('limit', limit, windowMs, 'h') end
  redis.call('HSET', pace, 'limit', limit, 'limitMs', windowMs, 'limitAt', stamp(now), 'limitBy', 'h')
end

--- Refused, and no header says what the limit is: three quarters of what was tried, once a window.
local function slowDown()
  local held = redis.call('HMGET', pace, 'limitAt', 'limitBy', 'limitMs')
  if held[2] == 'r' and now < tonumber(held[1]) + tonumber(held[3]) then return end
  local N, W = paceLimit(T, configured, configuredMs, reserve, now)
  if N == math.huge then return end
  local lower = math.max(1, math.floor((N + reserve) * 0.75))
  redis.call('HSET', pace, 'limit', lower, 'limitMs', W, 'limitAt', stamp(now), 'limitBy', 'r')
  learn('limit', lower, W, 'r')
end

--- The first slot that was granted after that moment, as closely as the parts tell; too early rather than late.
local function slotAt(time, W)
  local part = math.floor(time * PARTS / W)
  for step = 0, PARTS do
    local slot = redis.call('HGET', parts, step <= 2 and part - step or part + step - 2)
    if slot then return tonumber(slot) end
  end
end

--- Ours are all that can have arrived in the window the service counted: granted by now, and not so long
--- before it that they arrived earlier, however slow answers are at the moment. Whatever is left is not ours.
local function noteOthers(grantedAt, limit, remaining, windowMs)
  local _, W, before = paceLimit(T, configured, configuredMs, reserve, now)
  local since = slotAt(grantedAt - windowMs - 2 * (now - grantedAt), W)
  if not since then return end
  local ours = tonumber(redis.call('HGET', pace, 'k')) - since
  local extra = math.max(0, limit - remaining - ours)
  local held = redis.call('HMGET', pace, 'others', 'othersAt')
  local old = held[1] and now < tonumber(held[2]) + 2 * W and tonumber(held[1]) or 0
  redis.call('HSET', pace, 'others', string.format('%.2f', 0.7 * old + 0.3 * extra), 'othersAt', stamp(now))
  local _, _, after = paceLimit(T, configured, configuredMs, reserve, now)
  if before == 0 and after > 0 then learn('others', after) end
  if before > 0 and after == 0 then learn('alone') end
end

for i = 4, #ARGV, 6 do
  local slot, holdMs, refused = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local limit, remaining, windowMs = tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5])
  local before = redis.call('HGET', answers, slot)
  if before then redis.call('HSET', answers, slot, 'a' .. stamp(now)) end
  if holdMs ~= '' then
    local hold = now + tonumber(holdMs)
    if hold > tonumber(redis.call('HGET', pace, 'hold') or '0') then
      redis.call('HSET', pace, 'hold', stamp(hold), 'holdMs', holdMs)
    end
  end
  if limit and limit > 0 then
    learnLimit(limit, windowMs or configuredMs)
    local kind, grantedAt = readSlot(before or '')
    if remaining and kind == 'g' then noteOthers(grantedAt, limit, remaining, windowMs or configuredMs) end
  elseif refused == '1' then
    slowDown()
  end
end
return learnt
