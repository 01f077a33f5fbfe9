--[==[
  May this order be sent, and if not, why not? Feeder, sweeper, claim and begin ask here, so that the order of the questions and
  the names of the refusals are written once. core/may-send.ts has the same names and says what each holds back;
  docs/architecture.md shows them, and a test holds the three equal. (Included by `record`.)

  ask: what a script knows for a whole call
    T          the realm
    closed     function: why the ledger is closed to this sender, or nil (see fence). A script without it sends nothing
    sends      the request leaves next: the breaker holds everything back, not only first sends
    feeds      nothing of a recovered batch is fed
    states     the batch states in which the script works
    owners     the owners of a batch for which it works
    now, quietUntil    for an order that was delivered
    members, hold, turn, key, payment, day, gate
               functions of (batch, order) that answer a refusal or nil: questions that need more than this file knows, in
               the order in which they are asked. What they answer may end the order or take it back
  batch: no, state, owner, recovered; for begin also id and inOrder. isOther: it was changed, and is read again
  order: code ('w': it was never sent, or is to be sent again after a definite no), isResolved (an unknown that the script
    may go on with), batch (the id that the caller has, where it has one); where it was delivered, index and record
]==]
--- A refusal as the scripts answer it: its name, and what belongs to it.
local function refuse(why, ...)
  return { 'no', why, ... }
end

--- Whether no order of the batch may be sent for the first time before a person resumes (see first-sends).
local function waitsForPerson(T, no)
  return redis.call('SISMEMBER', T .. ':unresumed', no) == 1
end

--- What a call asks of a batch, once for all its orders; again where a refusal has made it another one.
local askedBatches = {}
local function batchOf(T, no)
  local batch = askedBatches[no]
  if not batch or batch.isOther then
    local state, owner, inOrder, id = unpack(redis.call('HMGET', batchKey(T, no), 'state', 'owner', 'inOrder', 'id'), 1, 4)
    batch = { no = no, state = state, owner = owner, inOrder = inOrder, id = id }
    askedBatches[no] = batch
  end
  return batch
end

--- What the realm refuses to all orders of a call is asked once.
local function askRealm(ask)
  if not ask.realm then
    local halt, breaker = unpack(redis.call('HMGET', ask.T, 'halt', 'breaker'), 1, 2)
    ask.realm = { closed = ask.closed(), isHalted = halt, isProbed = breaker }
  end
  return ask.realm
end

local function askWhetherItWaits(ask, batch)
  if batch.waits == nil then batch.waits = waitsForPerson(ask.T, batch.no) end
  return batch.waits
end

--- Why the order may not be sent: {'no', name, …}; nil where it may.
local function whyNot(ask, batch, order)
  local isFirst = order.code == 'w'
  if ask.closed then
    local realm = askRealm(ask)
    if realm.closed then return refuse(realm.closed) end
    if realm.isHalted then return refuse('halted') end
    if realm.isProbed and (isFirst or ask.sends) then return refuse('breaker') end
  end
  -- Since a rollback a number may stand for another batch.
  if not batch.state or order.batch and order.batch ~= batch.id then return refuse('gone') end
  -- An unknown of a cancelled batch must still be resolved: it cannot be cancelled.
  if not ask.states[batch.state] and not (batch.state == 'cancelled' and order.code == 'u') then return refuse('batch', batch.state) end
  if not ask.owners[batch.owner] then return refuse('owner') end
  if not isFirst and not order.isResolved then return refuse('order', order.code) end
  if ask.feeds and batch.recovered then return refuse('recovered') end
  if isFirst and askWhetherItWaits(ask, batch) then return refuse('after-rollback') end
  if order.index then
    -- What was taken back, or waits for a member, has no business here, however many deliveries of it are left.
    batch.due = batch.due or batchKey(ask.T, batch.no) .. ':due'
    local due = redis.call('ZSCORE', batch.due, order.index)
    if not due then return refuse('not-due') end
    local early = tonumber(due) - ask.now
    if isPause(early) then return refuse('early', string.format('%.0f', early)) end
    local quiet = quietMs(order.record, ask.quietUntil, ask.now)
    if quiet then return refuse('quiet', string.format('%.0f', quiet)) end
  end
  return ask.members and ask.members(batch, order)
    or ask.hold and ask.hold(batch, order)
    or ask.turn and ask.turn(batch, order)
    or ask.key and ask.key(batch, order)
    or ask.payment and ask.payment(batch, order)
    or ask.day and ask.day(batch, order)
    or ask.gate and ask.gate(batch, order)
    or nil
end

--- For the sweeper, of a batch's dispatched orders: the batch, or nil where none of them may be delivered again, and
--- whether first sends wait for a person.
local function batchToSweep(T, no, owner)
  local ask = { T = T, states = { running = true }, owners = { [owner] = true } }
  local batch = batchOf(T, no)
  if whyNot(ask, batch, { code = 'u', isResolved = true }) then return nil end
  local _, why = unpack(whyNot(ask, batch, { code = 'w' }) or {})
  return batch, why == 'after-rollback'
end
