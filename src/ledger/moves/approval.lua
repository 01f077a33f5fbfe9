--[==[
  Asks for an approval, approves, rejects, or withdraws what a person has approved (see approvals).

  KEYS[1] the realm
  ARGV[1] request | retry | approve | reject | withdraw  ARGV[2] kind: batch | retry | rule  ARGV[3] batch no, or rule
  ARGV[4] the batch's id ('' for a rule)  ARGV[5] who  ARGV[6] hash of what they were shown
  ARGV[7] for how long an approval counts, ms  ARGV[8] audit JSON for the batch ('' for none)
  ARGV[9] JSON {why, text: hash of a rule's text, orders, tokens, indexes: those of a retry}; to approve a batch {orders, tokens,
    retried}: what was shown as still to be sent, and B 'retried' then (see move): a retry in between may put another order in the place of one  ARGV[10], ARGV[11] limits of the person's profile (retry)

  `retry` asks for a retry of dead letters, where the person may not retry them alone. `withdraw` needs `who` alone.

  request: {'asked'}; {'same'} where exactly this waits already, by whomever
  retry: {'free'} (no approval is required, or the batch has one) | {'approved'} (for all of these) | {'alone'} | {'asked'}
    | {'other', who} (another person has asked for other dead letters of it)
    | {'lacking', JSON of their indexes} (some are approved: ask for these alone) | {'gone'}
  approve: {'approved'} | {'same-person'} | {'nameless'} (nobody known asked for it) | {'changed'} | {'not-needed'} | {'disarmed'} | {'gone'}
  reject: {'rejected'} | {'not-needed'} | {'changed'}
  withdraw: ids of the batches that wait again, and the rules, as 'rule <name>'
]==]
--- @include "record"
--- @include "fence"
--- @include "move"
--- @include "gate"
local T, action, kind, of, id, who, hash = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local countsMs, audit, asked, limits = tonumber(ARGV[7]), ARGV[8], ARGV[9] ~= '' and cjson.decode(ARGV[9]) or {}, limitsOf(ARGV[10], ARGV[11])
local now = nowMs()
local B = batchKey(T, of)

local function isGone()
  if kind == 'rule' then return false end
  local state = redis.call('HGET', B, 'state')
  return not state or not isBatch(T, of, id) or state == 'importing' or state == 'archived' or state == 'cancelled'
end

local function done(...)
  if kind ~= 'rule' then batches.touch(of) end
  if kind ~= 'rule' and audit ~= '' then redis.call('RPUSH', B .. ':log', audit) end
  batches.flush(T)
  return { ... }
end

local function ask()
  writeRequest(T, kind, of, { hash = hash, who = who, at = now, why = asked.why, text = asked.text, orders = asked.orders, tokens = asked.tokens })
end

--- Those that may be retried as they stand, until then.
local function allow(indexes, ends, by, how)
  for _, index in ipairs(indexes) do
    redis.call('HSET', B .. ':retries', index, string.format('%.0f ', ends) .. redis.sha1hex(readRecord(T, of, index) or '') .. ' ' .. by .. ' ' .. how)
  end
end

local function retry()
  local lacking = {}
  for _, index in ipairs(asked.indexes) do
    if not mayRetry(T, of, index, readRecord(T, of, index) or '', limits, now) then lacking[#lacking + 1] = index end
  end
  if #lacking == 0 then return { isRequired(limits) and 'approved' or 'free' } end
  if #lacking < #asked.indexes then return { 'lacking', cjson.encode(lacking) } end
  if who ~= '' and mayPayAlone(T, who, '', asked.orders, tonumber(asked.tokens), now, limits) then
    allow(asked.indexes, now + HOUR_MS, who, 'alone')
    redis.call('HSET', B, 'retriesBy', '1')
    return done('alone')
  end
  if who == '' then return { 'nameless' } end
  local known = readRequest(T, kind, of)
  if known and known.hash == hash then return { 'same' } end
  if known and not isSamePerson(known.who, who) and lettersOf(T, of) then return { 'other', known.who } end
  dropRequest(T, kind, of)
  for _, index in ipairs(asked.indexes) do redis.call('HSET', B .. ':retry', index, redis.sha1hex(readRecord(T, of, index) or '')) end
  ask()
  return done('asked')
end

--- Whether the approver had a hand in what is to be approved: asked for it, prepared it, or retried a dead letter that is a part of it.
local function whyNotBy(request)
  local first = request.who
  if kind == 'batch' then first = firstOf(T, of, request) or '' end
  if first == '' then return 'nameless' end
  if isSamePerson(first, who) or isSamePerson(request.who, who) then return 'same-person' end
  if kind ~= 'batch' then return nil end
  local retried = redis.call('HGETALL', B .. ':retriedBy')
  for i = 1, #retried, 2 do
    local by = string.match(retried[i + 1], '^%d+ (.+)$')
    if by and isSamePerson(by, who) and string.sub(readRecord(T, of, retried[i]) or '', 1, 1) == 'w' then return 'same-person' end
  end
  return nil
end

--- Whether no order of the batch ever left, as far as is known.
local function wasNeverSent()
  if redis.call('HEXISTS', B, 'startedAt') == 1 then return false end
  for _, code in ipairs({ 's', 'u', 'P', 'R', 'X', 'D' }) do
    if countOf(T, of, code) > 0 then return false end
  end
  return true
end

--- What is under way, in doubt or dead was not shown as left: should it come back, it counts for the person who pays it (see gate).
local function coverOnlyPlanned()
  for _, index in ipairs(redis.call('ZRANGE', B .. ':a', 0, -1)) do
    local by = string.match(redis.call('HGET', B .. ':retriedBy', index) or '', '^%d+( .*)$')
    redis.call('HSET', B .. ':retriedBy', index, string.format('%.0f', now) .. (by or ''))
  end
end

local function approve()
  if isGone() then return { 'gone' } end
  local request = readRequest(T, kind, of)
  if not request or isApproved(request, now) then return { 'not-needed' } end
  if request.hash ~= hash or (kind == 'batch' and (redis.call('HGET', B, 'confirmed') or '') ~= hash) then return { 'changed' } end
  if isUnmerged(T) then return { 'disarmed' } end
  if kind == 'batch' and (asked.orders ~= counter(B .. ':n', 'c:p') or tonumber(asked.tokens) ~= counter(B .. ':n', 't:p')) then return { 'changed' } end
  if kind == 'batch' and asked.retried ~= counter(B, 'retried') then return { 'changed' } end
  local own = whyNotBy(request)
  if own then return { own } end
  local ends = now + countsMs
  if kind == 'retry' then
    local indexes = lettersOf(T, of)
    if not indexes then return { 'changed' } end
    allow(indexes, ends, who, 'approved')
    dropRequest(T, kind, of)
    redis.call('HSET', B, 'retriesBy', '1')
    return done('approved')
  end
  local whole = nil
  if kind == 'batch' then
    whole = wasNeverSent()
    coverOnlyPlanned()
    ends = math.max(ends, (setTime(T, of) or 0) + HOUR_MS)
    if redis.call('HGET', B, 'state') == 'waiting' then redis.call('HSET', B, 'state', 'planned') end
  end
  request.approved = { who = who, at = now, ends = ends, whole = whole }
  writeRequest(T, kind, of, request)
  return done('approved')
end

local function withdrawFrom(no, found)
  B = batchKey(T, no)
  local request, isFound = readRequest(T, 'batch', no), false
  if request and request.approved and isSamePerson(request.approved.who, who) then
    request.approved, isFound = nil, true
    writeRequest(T, 'batch', no, request)
    if redis.call('HGET', B, 'state') == 'planned' then redis.call('HSET', B, 'state', 'waiting') end
  end
  local again = readRequest(T, 'retry', no)
  if again and isSamePerson(again.who, who) then
    dropRequest(T, 'retry', no)
    isFound = true
  end
  local all = redis.call('HGETALL', B .. ':retries')
  for i = 1, #all, 2 do
    if isSamePerson(string.match(all[i + 1], '^%d+ %x+ (%S+)'), who) then
      redis.call('HDEL', B .. ':retries', all[i])
      isFound = true
    end
  end
  if not isFound then return end
  batches.touch(no)
  found[#found + 1] = redis.call('HGET', B, 'id')
end

local function withdraw()
  local found = {}
  for _, no in ipairs(redis.call('ZRANGE', T .. ':asks', 0, -1)) do withdrawFrom(no, found) end
  local rules = redis.call('HGETALL', T .. ':rules:approvals')
  for i = 1, #rules, 2 do
    local request = cjson.decode(rules[i + 1])
    if isSamePerson(request.who, who) or request.approved and isSamePerson(request.approved.who, who) then
      redis.call('HDEL', T .. ':rules:approvals', rules[i])
      found[#found + 1] = 'rule ' .. rules[i]
    end
  end
  if #found > 0 then noteAct(T) end
  batches.flush(T)
  return found
end

local ACTIONS = {
  approve = approve,
  withdraw = withdraw,
  retry = function()
    if isGone() then return { 'gone' } end
    return retry()
  end,
  request = function()
    if kind ~= 'rule' then return redis.error_reply('ERR a batch asks by its seal, its sender or a retry') end
    local known = readRequest(T, kind, of)
    if known and known.hash == hash then return { 'same', known.who } end
    ask()
    return done('asked')
  end,
  reject = function()
    local known = readRequest(T, kind, of)
    if not known then return { 'not-needed' } end
    if known.hash ~= hash then return { 'changed' } end
    dropRequest(T, kind, of)
    return done('rejected')
  end,
}
local act = ACTIONS[action]
return act and act() or redis.error_reply('ERR approval knows no ' .. action)
