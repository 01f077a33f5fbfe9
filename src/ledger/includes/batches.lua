--[==[
  The lists of a realm's batches, so that nobody has to look at all of them. A script names the batches that it changed
  (`touch`); at its end `flush` works out, from what each batch then is, which lists it belongs to. A list is never kept
  by itself, so that no way into a state can forget one. (Included by `record`; `verify` works out the lists again.)

    T:batches     id → number
    T:ids         '<id> <number>', in the order of their ids: found by prefix
    T:importing   imports that are not sealed, by createdAt; those into recovered batches as well
    T:open        planned, running, paused and halted batches, and cancelled ones with orders that are sent or unknown,
                  by when they were listed
    T:feed        those of the workers with rows to feed, by when the feeder looks at them: it takes the longest waiting first
    T:busy        those of the workers with dispatched orders, by the earliest time at which one is due
    T:ended       done and cancelled batches that are not open, by finishedAt
    T:archived    archived batches, by finishedAt
    T:purging     those of them whose rows have not left the store yet, by number
    T:dead        batches with dead letters that nobody has dealt with, by number
    T:aside       batches with dead letters that somebody has dealt with, by number
    T:doubts      batches with doubts, by number
    T:sealed      sealed and recovered batches, by the number of the seal
    T:asks        batches for which an approval was asked, by when they wait for it: an approval may run out. Those of
                  which dead letters may be retried by one stand at its end
    T:recovered   recovered batches, by number
    T:changed     all batches, by T 'changes' when they changed last
    T:reports     '<number>:<version>' of ended batches of the workers whose report is still to be written

    T 'changes'   raised once by each script for each batch that it changes, as is B 'version'
    T 'rows'      the rows of all these batches
    T 'paid', 'paidTokens', 'paidBatches', 'lastPaidAt'   what of them is paid, and when the last batch with a paid order began
    T 'lastMade'  when the last batch was listed; never earlier than the one before
    B 'madeAt'    the same of the batch: the order of the numbers is that of these times
    B 'lists'     which lists name the batch, a letter and its score each; 'n', 'p' and 't' its part of T 'rows', 'paid' and
                  'paidTokens'
]==]
do
--- @include "gate"
  local LISTS = { i = 'importing', o = 'open', e = 'ended', v = 'archived', w = 'purging', d = 'dead', x = 'aside', D = 'doubts', s = 'sealed', q = 'asks', r = 'recovered' }
  local FED, WORKERS, UNSENT = { planned = true, running = true }, { [''] = true }, { code = 'w' }
  local OPEN = { planned = true, waiting = true, running = true, paused = true, halted = true }
  local FIELDS = { 'state', 'owner', 'cursor', 'rows', 'recovered', 'importer', 'createdAt', 'finishedAt', 'seal', 'begun', 'approval', 'retry',
    'retriesBy', 'aside', 'lists', 'purged', 'startedAt' }
  --- A batch that may not begin is looked at again: a clock or another process may have opened its gate.
  local LOOK_AGAIN_MS = 30000
  local NEVER = '9007199254740991'
  local touched, order = {}, {}

  function batches.touch(no)
    if touched[no] then return end
    touched[no] = true
    order[#order + 1] = no
  end

  --- What holds for all that is open has changed.
  function batches.touchOpen(T)
    for _, list in ipairs({ ':open', ':asks' }) do
      for _, no in ipairs(redis.call('ZRANGE', T .. list, 0, -1)) do batches.touch(no) end
    end
  end

  function batches.add(T, no, id)
    redis.call('HSET', T .. ':batches', id, no)
    redis.call('ZADD', T .. ':ids', 0, id .. ' ' .. no)
    local madeAt = math.max(nowMs(), tonumber(redis.call('HGET', T, 'lastMade') or '0'))
    redis.call('HSET', T, 'lastMade', madeAt)
    redis.call('HSET', batchKey(T, no), 'madeAt', madeAt)
    batches.touch(no)
  end

  --- When the feeder looks at the batch next. It has done so now, and others come first.
  function batches.lookAt(T, no, at)
    redis.call('ZADD', T .. ':feed', 'XX', string.format('%.0f', at), no)
  end

  local function parse(text)
    local found = {}
    for letter, score in string.gmatch(text or '', '(%a)(%-?%d+)') do found[letter] = score end
    return found
  end

  --- Applies what changed between two sets of entries.
  local function apply(T, no, old, new)
    for letter, name in pairs(LISTS) do
      if new[letter] == nil and old[letter] ~= nil then
        redis.call('ZREM', T .. ':' .. name, no)
      elseif new[letter] ~= old[letter] then
        redis.call('ZADD', T .. ':' .. name, new[letter], no)
      end
    end
    local more = tonumber(new.n or '0') - tonumber(old.n or '0')
    if more ~= 0 then redis.call('HINCRBY', T, 'rows', string.format('%.0f', more)) end
    if new.p == old.p and new.t == old.t then return end
    redis.call('HINCRBY', T, 'paid', string.format('%.0f', tonumber(new.p or '0') - tonumber(old.p or '0')))
    redis.call('HINCRBY', T, 'paidBatches', (new.p and 1 or 0) - (old.p and 1 or 0))
    -- Two sums may each be more than a double holds exactly.
    if old.t then bump(T, 'paidTokens', '-' .. old.t) end
    if new.t then bump(T, 'paidTokens', new.t) end
  end

  --- From when on it waits for an approval.
  local function asksAt(b)
    if b.retry then return string.format('%.0f', cjson.decode(b.retry).at) end
    if b.approval and not b.begun and b.state ~= 'done' then
      local request = cjson.decode(b.approval)
      return string.format('%.0f', request.approved and request.approved.ends or request.at)
    end
    return b.retriesBy and NEVER or nil
  end

  --- When the feeder looks again at a batch that may not begin yet; nil where it is refused for anything else.
  function batches.looksAgainAt(T, no, why, now)
    if why ~= 'approval' and why ~= 'start-missed' and why ~= 'start-time' then return nil end
    return why == 'start-time' and setTime(T, no) or now + LOOK_AGAIN_MS
  end

  --- When the feeder looks at the batch; nil where there is nothing to feed.
  local function feedAt(T, no, b, now)
    if tonumber(b.cursor or '1') > tonumber(b.rows or '0') then return nil end
    local function gate()
      local closed = not b.begun and closedGate(T, no, now)
      return closed and refuse(closed) or nil
    end
    local batch = { no = no, state = b.state, owner = b.owner or '', recovered = b.recovered }
    local refused = whyNot({ T = T, feeds = true, states = FED, owners = WORKERS, gate = gate }, batch, UNSENT)
    if refused then
      local _, why = unpack(refused)
      return batches.looksAgainAt(T, no, why, now)
    end
    local known = tonumber(redis.call('ZSCORE', T .. ':feed', no) or 'inf')
    return math.min(known, now)
  end

  local function put(T, name, no, score)
    if score then redis.call('ZADD', T .. ':' .. name, string.format('%.0f', score), no) else redis.call('ZREM', T .. ':' .. name, no) end
  end

  local function entriesOf(T, no, b, old, now)
    local B, state = batchKey(T, no), b.state
    local sending, unknown, doubts, refused, exhausted, paid, paidTokens =
      unpack(redis.call('HMGET', B .. ':n', 'c:s', 'c:u', 'c:D', 'c:R', 'c:X', 'c:P', 't:P'))
    local underWay, dead = tonumber(sending or '0') + tonumber(unknown or '0'), tonumber(refused or '0') + tonumber(exhausted or '0')
    local aside = tonumber(b.aside or '0')
    local isImport = state == 'importing'
    local isOpen = OPEN[state] or (state == 'cancelled' and underWay > 0)
    local new = { n = not isImport and b.rows or nil }
    if isImport or (b.recovered and b.importer) then new.i = b.createdAt end
    if isOpen then new.o = old.o or string.format('%.0f', now) end
    if not isOpen and (state == 'done' or state == 'cancelled') then new.e = b.finishedAt or '0' end
    if state == 'archived' then new.v = b.finishedAt or '0' end
    if state == 'archived' and b.purged ~= '1' then new.w = no end
    if dead - aside > 0 and not isImport then new.d = no end
    if aside > 0 and not isImport then new.x = no end
    if tonumber(doubts or '0') > 0 then new.D = no end
    if tonumber(paid or '0') > 0 then new.p, new.t = paid, paidTokens or '0' end
    if b.seal then new.s = b.seal end
    if b.recovered then new.r = no end
    if not isImport and state ~= 'cancelled' and state ~= 'archived' then new.q = asksAt(b) end
    return new, isOpen
  end

  local function relist(T, no, now)
    local B, b = batchKey(T, no), {}
    local meta = redis.call('HMGET', B, unpack(FIELDS))
    for i, field in ipairs(FIELDS) do b[field] = meta[i] or nil end
    if not b.state then return end
    local old = parse(b.lists)
    local new, isOpen = entriesOf(T, no, b, old, now)
    apply(T, no, old, new)
    if new.p and not old.p and tonumber(b.startedAt or '0') > tonumber(redis.call('HGET', T, 'lastPaidAt') or '0') then
      redis.call('HSET', T, 'lastPaidAt', b.startedAt)
    end
    local words = {}
    for letter, score in pairs(new) do words[#words + 1] = letter .. score end
    table.sort(words)
    local text = table.concat(words, ' ')
    if text ~= b.lists then redis.call('HSET', B, 'lists', text) end
    put(T, 'feed', no, feedAt(T, no, b, now))
    local isDelivered = isOpen and (b.owner or '') == '' and (b.state == 'running' or b.state == 'cancelled')
    local _, firstDue = unpack(redis.call('ZRANGE', B .. ':due', 0, 0, 'WITHSCORES'))
    put(T, 'busy', no, isDelivered and tonumber(firstDue) or nil)
    local version = redis.call('HINCRBY', B, 'version', 1)
    redis.call('ZADD', T .. ':changed', redis.call('HINCRBY', T, 'changes', 1), no)
    -- Whoever of the workers comes first writes its report. A run writes its own.
    if new.e and not old.e and (b.owner or '') == '' then redis.call('SADD', T .. ':reports', no .. ':' .. version) end
  end

  --- Before a script answers, once its counters are written.
  function batches.flush(T)
    local now = nowMs()
    -- What has no number is in no list: payments without a batch, references that were added.
    for _, no in ipairs(order) do
      if string.find(no, '^%d+$') then relist(T, no, now) end
    end
    touched, order = {}, {}
  end

  --- The batch is forgotten: an import that was taken back.
  function batches.drop(T, no, id)
    apply(T, no, parse(redis.call('HGET', batchKey(T, no), 'lists')), {})
    for _, name in ipairs({ 'feed', 'busy', 'changed' }) do redis.call('ZREM', T .. ':' .. name, no) end
    redis.call('ZREM', T .. ':ids', id .. ' ' .. no)
    redis.call('HDEL', T .. ':batches', id)
    redis.call('UNLINK', batchKey(T, no))
  end
end
