--[==[
  Adds to or subtracts from one member's balance, or moves points from one member to another, whole or not at all; or
  answers again what the same Idempotency-Key got. Balances, stored answer and the line in the books are one step.

  Input:
    KEYS[1] balances
    KEYS[2] answers, current generation
    KEYS[3] answers, generation before
    KEYS[4] applied changes (stream)
    KEYS[5] profiles
    KEYS[6] currencies beside the realm's own (set)

    ARGV[1] member; of a transfer the one that gives
    ARGV[2] member that receives, another one ('' unless it is a transfer)
    ARGV[3] tokens, not zero: signed, of a transfer positive
    ARGV[4] idempotency key, or ''
    ARGV[5] request id
    ARGV[6] how long answers are kept, ms
    ARGV[7] answers in one generation at most
    ARGV[8] applied changes kept
    ARGV[9] currency, or '' for the realm's own

  Output, with nothing done but for the first:
    { 'applied',  balance, balance of the recipient or '' }
    { 'replayed', balance, balance of the recipient or '' }   same key, same content: the first answer
    { 'conflict' }                                            same key, other content
    { 'unknown-member' }, { 'unknown-recipient' }
    { 'too-small', balance }                                  it would go below zero
    { 'out-of-range', balance }                               of who receives: it would leave 2^53 - 1
    { 'unknown-currency', each currency beside the realm's own }
]==]
-- @include clock
-- @include points
-- @include answers
-- @include members

local member, recipient, tokens, key = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local currency = ARGV[9]
local isTransfer = recipient ~= ''
local op = isTransfer and 'transfer' or tokens > 0 and 'credit' or 'debit'
local content = op .. ' ' .. member .. (isTransfer and ' ' .. recipient or '') .. ' ' .. ARGV[3]
  .. (currency ~= '' and ' ' .. currency or '')

if key ~= '' then
  local answer = firstAnswer(KEYS[2], KEYS[3], key)
  if answer then
    local first, balance, received = string.match(answer, '^(.*)=(-?%d+)/?(-?%d*)$')
    if first ~= content then return { 'conflict' } end
    return { 'replayed', balance, received }
  end
end

if currency ~= '' and redis.call('SISMEMBER', KEYS[6], currency) == 0 then
  return { 'unknown-currency', unpack(redis.call('SMEMBERS', KEYS[6])) }
end

--- Where a member's balance stands, what it is and what it would be; nothing where there is no such member.
local function effectOn(who, by)
  local home = bringHome(KEYS[1], who)
  local held = redis.call('HGET', home, who)
  if held and currency ~= '' then
    home = homeOf(inCurrency(KEYS[1], currency), who)
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
  keepAnswer(KEYS[2], KEYS[3], key, answer, now, tonumber(ARGV[6]), tonumber(ARGV[7]))
end
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[8], '*', 'op', op, 'member', member, 'recipient', recipient,
  'tokens', digits(math.abs(tokens)), 'key', key, 'request', ARGV[5], 'balance', after, 'currency', currency)
bringOthersHome(KEYS[1])
bringOthersHome(KEYS[5])
return { 'applied', after, received }
