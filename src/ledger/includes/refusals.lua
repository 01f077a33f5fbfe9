--[==[
  What refusals for the rate tell of the limit where no header does. One tells nothing: it may be a stray, and the
  realm is held for as long as it asks. A limit shows itself in two ways that strays hardly imitate:

    the same count      refused again with as many requests in the window, and hardly any passed with as many
                        meanwhile (a sliding window, a bucket)
    the same interval   three times as many requests from refusal to refusal (a window with a fixed beginning)

  A limit that was believed is given up when the realm takes a few requests more, refuses well below it again, or goes on
  refusing after as many requests although it is kept to: strays that come at an interval. Where something believed or
  suspected has come to nothing, strays are about, and more is asked for the next time.

  Kept beside what was learnt (pace.lua):
    last      slot, granted, heard: the last refusal
    refused   slots that were refused lately
    suspect   most, least, refusals, passes: requests in the window at refusals of the same count, and how many
              passed with as many
    cycle     each, number, requests, ms: refusals at the same interval, and their sum
    below     refusals well below the limit since it was last seen to hold
    evidence  how many had passed before the refusal by which the limit was believed
    again     refusals after as many although the limit was kept to
    regular   since, at: refusals after so many came whatever the limit was: for a while they tell nothing
    strayAt   when strays were about
]==]
local function numbers(text)
  local found = {}
  for number in string.gmatch(text or '', '%S+') do found[#found + 1] = tonumber(number) end
  return found
end

local function written(values)
  for i, value in ipairs(values) do values[i] = string.format('%.14g', value) end
  return table.concat(values, ' ')
end

--- Opens what was learnt: `given` has T (the realm), key, k (the next slot), N (ours of the configured requests), W, slack, now.
local function openLearnt(given)
  local fields, learnt = redis.call('HGETALL', given.key), {}
  for i = 1, #fields, 2 do learnt[fields[i]] = fields[i + 1] end
  return learnt
end

--- Requests from that slot on that were granted before this one and not refused.
local function passedSince(first, slot, refused)
  local count = slot - first
  for _, other in ipairs(refused) do
    if other >= first and other < slot then count = count - 1 end
  end
  return count
end

--- How many requests of ours were in the window when this one was granted.
local function inWindow(given, slot, granted, refused)
  return passedSince(given.k - grantedSince(given.T, granted - given.W), slot, refused)
end

--- When a limit that was just seen to hold is tried again.
local function nextTry(given, limit, holdMs)
  local rare = math.max(PACE.TRY_AFTER_MIN, 1000 / PACE.TRIES_PER_MILLE / limit, PACE.TRY_AFTER_MAX * holdMs / given.W)
  return stamp(given.now + math.min(PACE.TRY_AFTER_MAX, rare) * given.W)
end

local function believe(given, learnt, limit, since, holdMs)
  local held = learnt.by == 'r' and tonumber(learnt.limit) or given.N
  local lower = math.max(1, math.min(limit, held - 1))
  if lower >= held then return end
  redis.call('HDEL', given.key, 'suspect', 'cycle', 'below', 'again')
  redis.call('HSET', given.key, 'evidence', since or '', 'limit', lower, 'limitMs', given.W, 'by', 'r', 'since', stamp(given.now), 'tryAt', nextTry(given, lower, holdMs))
  return { 'limit', lower, given.W, 'r' }
end

local function giveUp(given)
  dropLimit(given.key)
  redis.call('HSET', given.key, 'strayAt', stamp(given.now))
  return { 'free' }
end

local function isAsMany(since, than)
  return than and since and math.abs(since - than) <= 1 + math.floor(since / PACE.AS_MANY_EACH)
end

--- A limit that is kept to is not met: refused again after as many requests, it was a little lower, or none at all.
local function notePersisting(given, learnt, since, holdMs)
  if redis.call('HINCRBY', given.key, 'again', 1) >= PACE.DOUBTED_AT then
    redis.call('HSET', given.key, 'regular', written({ since, given.now }))
    return giveUp(given)
  end
  local lower = math.max(1, tonumber(learnt.limit) - given.slack)
  redis.call('HSET', given.key, 'limit', lower, 'tryAt', nextTry(given, lower, holdMs))
  return { 'limit', lower, given.W, 'r' }
end

local function isTried(given, learnt, granted, windows)
  return learnt.by == 'r' and granted > tonumber(learnt.tryAt) + windows * given.W
end

--- Answers with what was learnt from this, if anything.
local function noteRefused(given, slot, granted, holdMs)
  local learnt, now = openLearnt(given), given.now
  local refused = numbers(learnt.refused)
  local lastSlot, lastGranted, lastHeard = unpack(numbers(learnt.last), 1, 3)
  local count = inWindow(given, slot, granted, refused)
  local since = lastSlot and lastSlot <= slot and passedSince(lastSlot, slot, refused)
  table.insert(refused, slot)
  while #refused > PACE.REFUSED_KEPT do table.remove(refused, 1) end
  redis.call('HSET', given.key, 'refused', written(refused))
  redis.call('PEXPIRE', given.key, keptMs(given.W))
  -- What was on its way when another was refused is refused for the same reason.
  if lastSlot and granted <= lastHeard and lastHeard <= now then return end
  redis.call('HSET', given.key, 'last', written({ slot, granted, now }))
  -- The realm's own word counts for more, also where something before it answers without.
  if learnt.by == 'h' then return end
  -- Refused once more before anything had passed, with little in the window: the realm refuses all for a while.
  if since == 0 and count < PACE.LITTLE_SHARE * given.N then return end
  local regularSince, regularAt = unpack(numbers(learnt.regular), 1, 2)
  if regularAt and isAsMany(since, regularSince) and now < regularAt + PACE.WARY_WINDOWS * given.W then return end
  if learnt.by == 'r' and since ~= 0 and isAsMany(since, tonumber(learnt.evidence)) then
    return notePersisting(given, learnt, since, holdMs)
  end

  if learnt.by == 'r' and count < tonumber(learnt.limit) - given.slack then
    if redis.call('HINCRBY', given.key, 'below', 1) >= PACE.DOUBTED_AT then
      redis.call('HDEL', given.key, 'cycle')
      redis.call('HSET', given.key, 'suspect', written({ count, count, 1, 0 }))
      return giveUp(given)
    end
  elseif isTried(given, learnt, granted, 0) then
    redis.call('HDEL', given.key, 'suspect', 'below')
    redis.call('HSET', given.key, 'tryAt', nextTry(given, tonumber(learnt.limit), holdMs))
    return
  end

  local each, intervals, requests, ms = unpack(numbers(learnt.cycle), 1, 4)
  if since then
    if isAsMany(since, each) then
      intervals, requests, ms = intervals + 1, requests + since, ms + granted - lastGranted
    else
      each, intervals, requests, ms = since, 1, since, granted - lastGranted
    end
  end
  local most, least, refusals, passes = unpack(numbers(learnt.suspect), 1, 4)
  if most and math.abs(count - most) <= given.slack then
    most, least, refusals = math.max(count, most), math.min(count, least), refusals + 1
  else
    most, least, refusals, passes = count, count, 1, 0
  end
  local wary = learnt.strayAt and now < tonumber(learnt.strayAt) + PACE.WARY_WINDOWS * given.W
  local more = given.W > PACE.LONG_WINDOW_MS and 1 or 0
  local atCount, atInterval = refusals >= PACE.SAME_COUNT + more + (wary and 1 or 0) and least, nil
  if intervals and intervals >= PACE.SAME_INTERVAL + more and ms > 0 then
    -- Two such windows may have met in what was counted as one.
    atInterval = math.max(math.floor(requests * given.W / ms + 0.5), math.floor(count / 2))
  end
  redis.call('HSET', given.key, 'suspect', written({ most, least, refusals, passes }), 'cycle', written({ each, intervals, requests, ms }))
  local held = learnt.by == 'r' and tonumber(learnt.limit) or given.N - 1
  if atInterval and atInterval < held then return believe(given, learnt, atInterval, since, holdMs) end
  if atCount then return believe(given, learnt, atCount, since, holdMs) end
end

--- Answers with what was learnt from this, if anything.
local function notePassed(given, slot, granted)
  -- Nearly every answer ends here.
  local suspect, by, tryAt = unpack(redis.call('HMGET', given.key, 'suspect', 'by', 'tryAt'))
  local tried = isTried(given, { by = by, tryAt = tryAt }, granted, PACE.TRIED_FOR)
  if not suspect and not tried then return end
  local learnt = openLearnt(given)
  local count = inWindow(given, slot, granted, numbers(learnt.refused))
  if suspect then
    local most, least, refusals, passes = unpack(numbers(suspect))
    local near = PACE.PASSED_NEAR_MIN + math.floor(given.N * PACE.PASSED_NEAR_MS / given.W)
    if count >= most - near then passes = passes + 1 end
    if count > most + given.slack or passes > 1 + near * refusals then
      redis.call('HDEL', given.key, 'suspect')
      redis.call('HSET', given.key, 'strayAt', stamp(given.now))
    else
      redis.call('HSET', given.key, 'suspect', written({ most, least, refusals, passes }))
    end
  end
  -- More than configured is never sent, so that the last step to it may be a small one.
  local more = tried and math.min(tonumber(learnt.limit) + given.slack, given.N - 1)
  if tried and count >= more then return giveUp(given) end
end
