--[==[
  What a realm requires of a second person. A profile makes it stricter by being seen; what makes it weaker, one person
  asks for, and another, who approves, asks for the same. Whoever asks second and may not approve has asked first from then on,
  so that the other can agree.

  KEYS[1] the realm
  ARGV[1] keep | change | agreed (two people have, in other books of the same realm id)  ARGV[2] over so many tokens  ARGV[3] over so many rows ('' for neither)
  ARGV[4] who (change)  ARGV[5] for how long the first one's word counts, ms  ARGV[6] '1': they approve

  Returns {'kept'} | {'asked'} | {'changed'} | {'same-person', who} | {'not-approver', who}, then over tokens and over rows as they are now ('' for none)
]==]
--- @include "record"
--- @include "gate"
local T, tokens, rows, who = KEYS[1], ARGV[2], ARGV[3], ARGV[4]

local function answer(...)
  batches.flush(T)
  local most = redis.call('HMGET', T, 'overTokens', 'overRows')
  return { select(1, ...), select(2, ...) or '', most[1] or '', most[2] or '' }
end

local function set()
  for field, most in pairs({ overTokens = tokens, overRows = rows }) do
    if most == '' then redis.call('HDEL', T, field) else redis.call('HSET', T, field, most) end
  end
  redis.call('HDEL', T, 'lowering')
  batches.touchOpen(T)
end

if ARGV[1] == 'agreed' then
  set()
  return answer('changed')
end
keepRequirement(T, tokens, rows)
if ARGV[1] == 'keep' then return answer('kept') end
local now = nowMs()
local text = redis.call('HGET', T, 'lowering')
local first = text and cjson.decode(text)
local isSame = first and first.overTokens == tokens and first.overRows == rows and now - first.at < tonumber(ARGV[5])
local mayAgree = isSame and not isSamePerson(first.who, who)
if isSame and not mayAgree then return answer('same-person', first.who) end
if not mayAgree or ARGV[6] ~= '1' then
  redis.call('HSET', T, 'lowering', cjson.encode({ who = who, overTokens = tokens, overRows = rows, at = now }))
  return answer(mayAgree and 'not-approver' or 'asked', mayAgree and first.who or nil)
end
set()
return answer('changed', first.who)
