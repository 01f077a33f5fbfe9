--[==[
  A recovered batch holds orders that journals know and the store has forgotten, under the id that their batch had. Its
  rows are those of the orders, each at its index, and no others; nothing of it is fed. The seal of the same orders makes
  it a batch like any other (see seal-batch).

    B 'recovered'    '1' until then
    B 'incomplete'   '1': a person has accepted that more may have been sent of it than is known
    B:rows           index → its row as in a plan block
    B:members        the members of these orders
    B 'orders:<op>', 'tokens:<op>'   how many they are, and their tokens
    B 'currency', 'label'   as a seal writes them (see totals)
    B:accounts       r<plan block> → as those of a plan block, for these orders
]==]
local function isSealedBatch(T, no)
  local state, recovered = unpack(redis.call('HMGET', batchKey(T, no), 'state', 'recovered'))
  return state and state ~= 'importing' and (not recovered or state == 'archived')
end

--- As a batch has it: '' for the realm's own.
local function currencyOf(order)
  local currency = cjson.decode(order.manifest).currency
  return type(currency) == 'string' and currency or ''
end

--- The number of the recovered batch with this id. An import of the same id that has not been sealed becomes one, and its
--- importer goes on.
local function recoveredBatch(T, no, id, order, now)
  local B = no and batchKey(T, no)
  if B and redis.call('HEXISTS', B, 'recovered') == 1 then return no end
  if not no then
    no = tostring(redis.call('HINCRBY', T, 'batches', 1))
    B = batchKey(T, no)
    batches.add(T, no, id)
    redis.call('HSET', B, 'id', id, 'blocks', 0)
  end
  redis.call('HSET', B, 'state', 'running', 'recovered', '1', 'manifest', order.manifest, 'owner', '', 'rows', 0, 'cursor', 1,
    'generation', 0, 'version', 0, 'inOrder', '0', 'begun', '1', 'createdAt', now, 'startedAt', order.sentAt,
    'seal', redis.call('HINCRBY', T, 'seals', 1), 'putBack', '1')
  local rule = type(order.account) == 'string' and string.match(order.account, '^[^:]+')
  redis.call('HSET', B, 'currency', currencyOf(order), 'label', rule or '(file)')
  if redis.call('HEXISTS', T, 'gap') == 1 then redis.call('HSET', B, 'incomplete', '1') end
  redis.call('RPUSH', B .. ':log', cjson.encode({ at = now, who = 'almoner', what = 'recovered from a journal',
    why = 'the store had forgotten this batch; it holds the orders of it that journals know' }))
  batches.touch(no)
  return no
end

--- Whether two rows are the same, but for the place of the order that an undo takes back: that follows from the store.
local function isSameRow(one, other)
  local function plain(text)
    -- As packRow (plan-block.ts) writes it.
    local line, order, reference, reason, cells, rare = unpack(cjson.decode(text), 1, 6)
    if rare then rare.u = nil end
    return cjson.encode({ line, order, reference, reason, cells, rare and next(rare) and rare or nil })
  end
  return one == other or plain(one) == plain(other)
end

--- The order passes this account of a rule from now on (see account); nothing for one without.
local function addToAccount(T, no, index, account, tokens)
  if type(account) ~= 'string' then return end
  local accounts = batchKey(T, no) .. ':accounts'
  local block = 'r' .. math.floor((tonumber(index) - 1) / (2 * BLOCK_ORDERS))
  local ranges = cjson.decode(redis.call('HGET', accounts, block) or '[]')
  ranges[#ranges + 1] = { account, tonumber(index), tonumber(index), tokens }
  redis.call('HSET', accounts, block, cjson.encode(ranges))
end

--- Puts the order into the recovered batch, as planned, or as cancelled with the batch, unless it is there: 'new' | 'there' |
--- nil where another order stands there, or others of the batch were sent in another currency.
local function recoverOrder(T, no, index, tokens, order)
  local B = batchKey(T, no)
  local stands = redis.call('HGET', B .. ':rows', index)
  if stands and not isSameRow(stands, order.row) then return nil end
  if (redis.call('HGET', B, 'currency') or '') ~= currencyOf(order) then return nil end
  if stands then
    -- The order that it undoes may have come back meanwhile.
    redis.call('HSET', B .. ':rows', index, order.row)
    return 'there'
  end
  -- What an import said of the row that was never sealed.
  redis.call('HDEL', recordKey(T, no, index), index)
  batches.touch(no)
  redis.call('HSET', B .. ':rows', index, order.row)
  redis.call('SADD', B .. ':members', unpack(order.members))
  redis.call('HINCRBY', B, 'orders:' .. order.op, 1)
  bump(B, 'tokens:' .. order.op, tokens)
  if tonumber(index) > tonumber(redis.call('HGET', B, 'rows')) then redis.call('HSET', B, 'rows', index) end
  local state = stateOf(nil, isCancelled(T, no))
  bump(B .. ':n', 'c:' .. state, 1)
  bump(B .. ':n', 't:' .. state, tokens)
  addToAccount(T, no, index, order.account, tokens)
  if type(order.account) == 'string' and state == 'p' then
    bump(T .. ':held', order.account, tokens)
    bump(B .. ':n', 'a:' .. order.account, tokens)
  end
  return 'new'
end
