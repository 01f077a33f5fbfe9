--[==[
  Makes a plan immutable. Only sealed batches are fed. Counters start here, from the manifest. What its orders hold
  of the accounts of rules is taken here, or nothing is sealed; and what a run of a rule notes of itself is noted
  here, so that no crash leaves the one without the other.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] importer  ARGV[3] manifest JSON  ARGV[4] counters JSON {"c:p": "n", "t:p": "n", …}
  ARGV[5] owner session ('' for the workers)  ARGV[6] rows  ARGV[7] audit entry
  ARGV[8] the rows' sketch: one word of each row's content ('' for none)
  ARGV[9] '1': strictly one order after the other
  ARGV[10] '<seals> <retries>' of the realm when the plan was judged again ('' where nothing was asked)
  ARGV[11] '' or, of a run of a rule, JSON {account, limit: n | null, number: n | null (see T:rules:numbers),
    id, record: JSON of the run, schedule: {rule, hash, audience, last: JSON, missed, only} | null}
  ARGV[12] how many recovered orders the batch has, which were looked at ('0': it is no recovered one). Their rows are
    those of the plan, and neither the counters nor the accounts that are given hold them
  ARGV[13] the store in which it was judged (see isSameStore)
  ARGV[14] JSON {who: name of the preparer's token | null, overTokens, overRows: the limits of their profile ('' for none),
    startAt: ms | null, startZone, confirmed: hash of all that an approver is shown} (see gate)
  ARGV[15] currency ('' for the realm's own)  ARGV[16] the rule, or '(file)' (see totals)

    T 'seals'         raised by every seal, by a loss that a person accepts and by imports of the same realm id under
                      another address: two imports that compare at the same moment cannot both pass
    T 'retries'       see move
    B 'seal'          the number that its seal raised `seals` to
    B 'putBack'       '1': it was a recovered one, and its seal says nothing of what was sealed or retried since its orders
                      were first sent
    T:rules:numbers   account → '<number> <batch no>' of the last sealed run that was not a schedule's

  Returns {'sealed'} (also when the same importer asks again) | {'already'} | {'not-importer'} | {'incomplete'}
  (a block is not there: the store has forgotten it since it was put) | {'moved'} (one of the numbers was raised since)
  | {'sending'} (a recovered order of it is on its way) | {'disarmed'} (what was paid may be forgotten: the journals are not merged) | {'nameless'} (a second person is required, and
  nobody knows who the first is)
  | {'over', account, limit, held, tokens} | {'noted'} (that time of the schedule was dealt with meanwhile, has not come, or is held
  back by a person, or by a rollback; a run that a person goes on with asks for none of it)
]==]
--- @include "record"
--- @include "move"
--- @include "fence"
--- @include "schedule"
--- @include "first-sends"
--- @include "gate"
--- @include "unsealed"
local T, no, importer = KEYS[1], ARGV[1], ARGV[2]
local given = { manifest = ARGV[3], counters = ARGV[4], owner = ARGV[5], rows = ARGV[6], audit = ARGV[7], sketch = ARGV[8],
  inOrder = ARGV[9], judgedAt = ARGV[10], run = ARGV[11], recovered = ARGV[12], store = ARGV[13], gate = ARGV[14],
  currency = ARGV[15], label = ARGV[16] }
local B = batchKey(T, no)
local state, holder, storedBlocks, isRecovered = unpack(redis.call('HMGET', B, 'state', 'importer', 'blocks', 'recovered'), 1, 4)
if state and not isBatch(T, no, cjson.decode(given.manifest).batch) then return { 'not-importer' } end
if state and state ~= 'importing' and not isRecovered then return { holder == importer and 'sealed' or 'already' } end
if holder ~= importer or not isImportable(state, isRecovered) then return { 'not-importer' } end
-- The loop below begins there: from a number far below zero it would never come to its end.
if not string.find(given.rows, '^%d+$') then return redis.error_reply('ERR rows: not a count') end

local blocks = math.ceil(tonumber(given.rows) / (2 * BLOCK_ORDERS))
for block = 0, blocks - 1 do
  if redis.call('EXISTS', B .. ':p:' .. block) == 0 then return { 'incomplete' } end
end

if isUnmerged(T) then return { 'disarmed' } end
local seals, retries = unpack(redis.call('HMGET', T, 'seals', 'retries'))
local isMoved = given.judgedAt ~= '' and (seals or '0') .. ' ' .. (retries or '0') ~= given.judgedAt
if isMoved or not isSameStore(T, given.store) or redis.call('HLEN', B .. ':rows') ~= tonumber(given.recovered) then return { 'moved' } end
if isRecovered and countOf(T, no, 's') > 0 then return { 'sending' } end

local run = given.run ~= '' and cjson.decode(given.run)
local function limitNow(account)
  if not run or run.account ~= account then return limitOf(T, account) end
  return type(run.limit) == 'number' and string.format('%.0f', run.limit)
end
local gate = cjson.decode(given.gate)
local who = type(gate.who) == 'string' and gate.who
local isScheduled = run and type(run.schedule) == 'table' and run.schedule.only
local limits = limitsOf(gate.overTokens, gate.overRows)
if isRequired(limits) and not who and not isScheduled then return { 'nameless' } end
local taken = plannedAccounts(T, no, blocks)
for account, tokens in pairs(taken) do
  local over = overLimit(T, account, limitNow(account), tokens)
  if over then return { 'over', unpack(over) } end
end
if run then
  local schedule = type(run.schedule) == 'table' and run.schedule
  local isHeld = schedule and schedule.only and (isHeldBack(T, schedule.rule, schedule.hash, schedule.last) or waitsAtAll(T))
  if isHeld then return { 'noted' } end
  if schedule and not noteScheduled(T, schedule.rule, schedule.last, schedule.missed) and schedule.only then return { 'noted' } end
  local limit = limitNow(run.account)
  if limit then redis.call('HSET', T .. ':limits', run.account, limit) else redis.call('HDEL', T .. ':limits', run.account) end
  if type(run.number) == 'number' then
    redis.call('HSET', T .. ':rules:numbers', run.account, string.format('%.0f %s', run.number, no))
  end
  redis.call('HSET', T .. ':rules:runs', run.id, run.record)
end
for account, tokens in pairs(taken) do
  bump(T .. ':held', account, tokens)
  bump(B .. ':n', 'a:' .. account, tokens)
end

-- An importer that was taken over may have stored more blocks: a file with more rows that are no orders.
for block = blocks, tonumber(storedBlocks) - 1 do
  redis.call('HDEL', B .. ':accounts', block)
  redis.call('UNLINK', B .. ':p:' .. block, B .. ':o:' .. (2 * block), B .. ':o:' .. (2 * block + 1))
end

for field, value in pairs(cjson.decode(given.counters)) do
  bump(B .. ':n', field, value)
end
-- Recovered orders of which nobody knows what became of them go on being asked about, whatever keeps the others.
redis.call('HSET', B, 'state', countOf(T, no, 'u') > 0 and 'running' or 'planned', 'manifest', given.manifest, 'owner', given.owner,
  'rows', given.rows, 'cursor', 1, 'inOrder', given.inOrder, 'currency', given.currency, 'label', given.label)
if isRecovered then
  redis.call('HDEL', B, 'recovered', 'incomplete', 'begun', 'cleared', 'approval', 'retry', 'retriesBy', 'startedAt', 'finishedAt')
  redis.call('UNLINK', B .. ':rows', B .. ':members', B .. ':retry', B .. ':retries')
  redis.call('HSET', B, 'putBack', '1')
else
  redis.call('HSET', B, 'generation', 0, 'version', 0)
end
redis.call('HDEL', B, 'importerAt')
waitsNoLonger(T, no)
noteAct(T)
if given.sketch ~= '' then redis.call('SET', B .. ':h', given.sketch) end
redis.call('HSET', B, 'seal', redis.call('HINCRBY', T, 'seals', 1))
redis.call('RPUSH', B .. ':log', given.audit)
if who then redis.call('HSET', B, 'preparer', who) end
if type(gate.startAt) == 'number' then 
  redis.call('HSET', B, 'startAt', string.format('%.0f', gate.startAt), 'startZone', gate.startZone, 'sealedStart',
    string.format('%.0f ', gate.startAt) .. gate.startZone)
end
redis.call('HSET', B, 'confirmed', gate.confirmed)
if isScheduled then redis.call('HSET', B, 'byRule', '1') end
if isScheduled and isApprovedByTwo(T, run.schedule) then redis.call('HSET', B, 'cleared', 'rule') end
-- What may not begin waits for the workers.
if judgeGate(T, no, limits, nowMs()) then redis.call('HSET', B, 'owner', '') end
finishIfDone(T, no)
batches.touch(no)
batches.flush(T)
return { 'sealed' }
