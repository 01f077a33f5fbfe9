--[==[
  Adds to or subtracts from one member's balance, or moves points from one member to another, completely or not at
  all. The same Idempotency-Key again gets its first answer again. Balances, stored answer and the line in the applied
  log change in one step.

  Input:
    KEYS[1] balances
    KEYS[2] answers, current generation
    KEYS[3] answers, generation before
    KEYS[4] applied changes (stream)
    KEYS[5] profiles
    KEYS[6] currencies besides the realm's own (set)

    ARGV[1] member; for a transfer the one that gives
    ARGV[2] member that receives; '' unless it is a transfer
    ARGV[3] tokens, not zero: signed, for a transfer positive
    ARGV[4] idempotency key, or ''
    ARGV[5] request id
    ARGV[6] how long answers are kept, ms
    ARGV[7] maximum of answers in one generation
    ARGV[8] maximum of applied changes kept
    ARGV[9] currency, or '' for the realm's own

  Output (only 'applied' changes anything):
    { 'applied',  balance, balance of the recipient or '' }
    { 'replayed', balance, balance of the recipient or '' }   same key, same content: the first answer
    { 'conflict' }                                            same key, other content
    { 'unknown-member' }, { 'unknown-recipient' }
    { 'too-small', balance }                                  the balance would go below zero
    { 'out-of-range', balance }                               the receiver's balance would exceed 2^53 - 1
    { 'unknown-currency', each currency besides the realm's own }
]==]
-- @include clock
-- @include points
-- @include answers
-- @include members

local balancesKey, answersKey, answersBeforeKey = KEYS[1], KEYS[2], KEYS[3]
local appliedKey, profilesKey, currenciesKey = KEYS[4], KEYS[5], KEYS[6]
local member, recipient, tokens, key = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local requestId, answersKeptMs, answersMax, appliedMax = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local currency = ARGV[9]
local isTransfer = recipient ~= ''
local op = isTransfer and 'transfer' or tokens > 0 and 'credit' or 'debit'
local content = op .. ' ' .. member .. (isTransfer and ' ' .. recipient or '') .. ' ' .. ARGV[3]
  .. (currency ~= '' and ' ' .. currency or '')

if key ~= '' then
  local answer = firstAnswer(answersKey, answersBeforeKey, key)
  if answer then
    local first, balance, received = string.match(answer, '^(.*)=(-?%d+)/?(-?%d*)$')
    if first ~= content then return { 'conflict' } end
    return { 'replayed', balance, received }
  end
end

if currency ~= '' and redis.call('SISMEMBER', currenciesKey, currency) == 0 then
  return { 'unknown-currency', unpack(redis.call('SMEMBERS', currenciesKey)) }
end

-- Returns the member's hash, balance before and balance after; nil if there is no such member.
local function effectOn(who, by)
  local home = bringHome(balancesKey, who)
  local held = redis.call('HGET', home, who)
  if held and currency ~= '' then
    home = homeOf(inCurrency(balancesKey, currency), who)
    held = redis.call('HGET', home, who) or '0'
  end
  return held and { home = home, who = who, held = held, by = by, after = tonumber(held) + by }
end

local own = effectOn(member, isTransfer and -tokens or tokens)
local other = isTransfer and effectOn(recipient, tokens)
if not own then return { 'unknown-member' } end
if isTransfer and not other then return { 'unknown-recipient' } end
local receiver = other or own
if own.by < 0 and own.after < 0 then return { 'too-small', own.held } end
if receiver.after > POINTS_MAX then return { 'out-of-range', receiver.held } end

local now = nowMs()
redis.call('HINCRBY', own.home, own.who, digits(own.by))
if other then redis.call('HINCRBY', other.home, other.who, digits(other.by)) end
local after, received = digits(own.after), other and digits(other.after) or ''
if key ~= '' then
  local answer = content .. '=' .. after .. (other and '/' .. received or '')
  keepAnswer(answersKey, answersBeforeKey, key, answer, now, answersKeptMs, answersMax)
end
redis.call('XADD', appliedKey, 'MAXLEN', '~', appliedMax, '*', 'op', op, 'member', member, 'recipient', recipient,
  'tokens', digits(math.abs(tokens)), 'key', key, 'request', requestId, 'balance', after, 'currency', currency)
bringOthersHome(balancesKey)
bringOthersHome(profilesKey)
return { 'applied', after, received }
