--[==[
  The account of a rule in a period. Every order under 'rule:<name>:<period>:…', and every row that stands in for
  one, passes it, whichever way it comes. What may be paid holds its tokens there: taken when it becomes payable (by
  the seal of its batch, or by a retry), and given back with a definite no. `move` sees to it; what a paid
  undo gives back, `freeUndone` does.

    T:held       account, '<name>:<period>' → tokens that its orders hold
    T:limits     account → the most that they may hold, as the last sealed run of the rule said it
    B:accounts   plan block → JSON [[account, first index, last index, tokens], …]; r<plan block> for recovered orders
    B:n          a:<account> → what the planned orders of the batch hold of it
]==]
-- The most that an account holds, also without a limit: up to here a sum in doubles is exact, and one that is beyond
-- it is never taken for one that is not.
local ACCOUNT_MOST = '9007199254740991'
local HOLDING = { p = true, s = true, u = true, D = true, P = true }

local accountRanges = {}

local function accountOf(T, no, index)
  local row = tonumber(index)
  local block = math.floor((row - 1) / (2 * BLOCK_ORDERS))
  local place = no .. ':' .. block
  if accountRanges[place] == nil then
    accountRanges[place] = {}
    for _, ranges in ipairs(redis.call('HMGET', batchKey(T, no) .. ':accounts', 'r' .. block, block)) do
      for _, range in ipairs(ranges and cjson.decode(ranges) or {}) do table.insert(accountRanges[place], range) end
    end
  end
  for _, range in ipairs(accountRanges[place]) do
    local account, first, last = unpack(range)
    if row >= first and row <= last then return account end
  end
  return nil
end

--- Follows a move; a fact is a fact, so that nothing is refused here.
local function passAccount(T, no, index, from, to, tokens)
  local account = tokens ~= '0' and from ~= to and accountOf(T, no, index)
  if not account then return end
  if HOLDING[from] ~= HOLDING[to] then bump(T .. ':held', account, HOLDING[to] and tokens or '-' .. tokens) end
  if from == 'p' or to == 'p' then bump(batchKey(T, no) .. ':n', 'a:' .. account, to == 'p' and tokens or '-' .. tokens) end
end

--- What stands against so many more tokens: {account, limit, held, tokens}, or nil. `limit` is false for none.
local function overLimit(T, account, limit, tokens)
  local held = counter(T .. ':held', account)
  local most = limit or ACCOUNT_MOST
  if held + tonumber(tokens) <= tonumber(most) then return nil end
  return { account, most, string.format('%.0f', held), tostring(tokens) }
end

local function limitOf(T, account)
  return redis.call('HGET', T .. ':limits', account)
end

--- What the blocks of a batch that is to be sealed would hold, by account.
local function plannedAccounts(T, no, blocks)
  local sums = {}
  for block = 0, blocks - 1 do
    local ranges = redis.call('HGET', batchKey(T, no) .. ':accounts', block)
    for _, range in ipairs(ranges and cjson.decode(ranges) or {}) do
      local account, _, _, tokens = unpack(range)
      sums[account] = (sums[account] or 0) + tonumber(tokens)
    end
  end
  for account, sum in pairs(sums) do sums[account] = string.format('%.0f', sum) end
  return sums
end

--- All that was planned in the batch is cancelled by one flag.
local function giveBackPlanned(T, no)
  local counters = batchKey(T, no) .. ':n'
  for _, field in ipairs(redis.call('HKEYS', counters)) do
    local account = string.match(field, '^a:(.+)$')
    local planned = account and counter(counters, field) or 0
    if planned ~= 0 then
      bump(T .. ':held', account, string.format('%.0f', -planned))
      redis.call('HSET', counters, field, 0)
    end
  end
end
