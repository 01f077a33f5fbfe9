--- @include "day"
--[==[
  Running totals of the realm. They move in the same script as the order, and every field only grows.

    T:sum:<period>:<currency>   period: UTC day YYYY-MM-DD, month YYYY-MM (see fold-day), or 'all'; currency: '' for the realm's own
        <op><outcome>+          orders that entered the outcome; op: c credit, d debit, t transfer
        <op><outcome>-          orders that left it; both with a 't' behind: their tokens
    T:by:rule:<period>:<currency>, T:by:reason:<period>:<currency>   the same orders by rule ('(file)' for a file) and by reason
        <letter>                a to t: the label, of at most 48 bytes; u: all labels after the twentieth
        <letter>P, <letter>U    orders that were paid; that were refused or exhausted
        <letter>c, d, t         tokens of the paid ones, by op
    T:work:<period>             requests, retries, limited: as the batches count them; b<n>: latencies, as B:lat counts them;
                                granted, allowed: requests that took a slot, and thousandths of those allowed (see take-slot)
    T:sums                      '<period>:<currency>' of all sums, '<period>' of all work

  Outcomes are P, R, X, u and D. What was never tried (planned, cancelled, left out) stays with its batch.

  An order counts on the day on which it was sent, as its record says (of a resent one, the first time), whenever that
  is heard; it leaves an outcome on that day too. Where the record names no time, both count today. So on one day more
  may leave than entered; over all periods, entered less left is what the batches count.
]==]
local totals = (function()
  local OUTCOMES = { P = true, R = true, X = true, u = true, D = true }
  local UNPAID = { R = true, X = true }
  local LETTERS = { 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't' }
  local OTHER = 'u'
  local LABEL_BYTES = 48

  local listed = {}
  --- `behind` is ':' and the currency for sums, and '' for work.
  local function list(T, period, behind)
    local entry = period .. behind
    if not listed[entry] then redis.call('SADD', T .. ':sums', entry, 'all' .. behind) end
    listed[entry] = true
  end

  local known = {}
  --- The letter of a label in one hash. The first twenty labels get one each.
  local function letterOf(key, label)
    label = string.sub(label, 1, LABEL_BYTES)
    local labels = known[key]
    if not labels then
      labels = { used = 0, letters = {} }
      for place, name in ipairs(redis.call('HMGET', key, unpack(LETTERS))) do
        if name then labels.used, labels.letters[name] = place, LETTERS[place] end
      end
      known[key] = labels
    end
    if labels.letters[label] then return labels.letters[label] end
    if labels.used == #LETTERS then return OTHER end
    labels.used = labels.used + 1
    local letter = LETTERS[labels.used]
    redis.call('HSET', key, letter, label)
    labels.letters[label] = letter
    return letter
  end

  local function group(key, label, outcome, op, tokens)
    local letter = letterOf(key, label)
    bump(key, letter .. (outcome == 'P' and 'P' or 'U'), 1)
    if outcome == 'P' then bump(key, letter .. op, tokens) end
  end

  local facts = {}
  local function factsOf(T, no)
    facts[no] = facts[no] or redis.call('HMGET', batchKey(T, no), 'currency', 'label')
    local currency, label = unpack(facts[no])
    return currency or '', label or '(file)'
  end

  local function count(T, day, currency, field, tokens)
    list(T, day, ':' .. currency)
    for _, period in ipairs({ day, 'all' }) do
      local key = T .. ':sum:' .. period .. ':' .. currency
      bump(key, field, 1)
      bump(key, field .. 't', tokens)
    end
  end

  local self = { list = list, letterOf = letterOf }

  local parsed, tokens, op, reason
  --- '<tokens> <op> <reason>', as ledger/amount.ts makes it. A move asks for the same one several times.
  function self.parse(amount)
    if amount ~= parsed then
      parsed = nil
      tokens, op, reason = string.match(amount, '^(%d+) ([cdt]) ?(.*)$')
      if not tokens then error('no amount: ' .. amount) end
      parsed = amount
    end
    return tokens, op, reason
  end

  function self.moved(T, no, moved)
    local from, to = moved.from, moved.to
    if not OUTCOMES[from] and not OUTCOMES[to] then return end
    local tokens, op, reason = self.parse(moved.amount)
    local currency, rule = factsOf(T, no)
    if OUTCOMES[from] then count(T, dayOf(moved.before, nowMs()), currency, op .. from .. '-', tokens) end
    if not OUTCOMES[to] then return end
    local day = dayOf(moved.after, nowMs())
    count(T, day, currency, op .. to .. '+', tokens)
    if to ~= 'P' and not UNPAID[to] then return end
    group(T .. ':by:rule:' .. day .. ':' .. currency, rule, to, op, tokens)
    group(T .. ':by:reason:' .. day .. ':' .. currency, reason, to, op, tokens)
  end

  --- Counts requests and the like for the batch and for the day on which the order was sent.
  function self.worked(T, no, field, by, day)
    bump(batchKey(T, no), field, by)
    self.addWork(T, field, by, day)
  end

  function self.addWork(T, field, by, day)
    list(T, day, '')
    for _, period in ipairs({ day, 'all' }) do bump(T .. ':work:' .. period, field, by) end
  end

  return self
end)()
