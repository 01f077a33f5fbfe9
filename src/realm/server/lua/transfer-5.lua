--[[
  Moves points from one member to another, whole or not at all, or answers again what the same
  Idempotency-Key got. Both balances, stored answer and the line in the books are one step.

  Input:
    KEYS[1] balances
    KEYS[2] answers, current generation
    KEYS[3] answers, generation before
    KEYS[4] applied changes (stream)
    KEYS[5] profiles

    ARGV[1] member that gives
    ARGV[2] member that receives, another one
    ARGV[3] tokens, positive
    ARGV[4] idempotency key, or ''
    ARGV[5] request id
    ARGV[6] how long answers are kept, ms
    ARGV[7] answers in one generation at most
    ARGV[8] applied changes kept

  Output:
    { 'applied',  balance, balance of the recipient }
    { 'replayed', balance, balance of the recipient }   same key, same content: the first answer
    { 'conflict' }                                      same key, other content: nothing done
    { 'unknown-member' }                                nothing done
    { 'unknown-recipient' }                             nothing done
    { 'too-small', balance }                            nothing done
    { 'out-of-range', balance of the recipient }        nothing done
]]
-- @include clock
-- @include points
-- @include answers
-- @include members

local member, recipient, tokens, key = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local content = 'transfer ' .. member .. ' ' .. recipient .. ' ' .. ARGV[3]

if key ~= '' then
  local answer = firstAnswer(KEYS[2], KEYS[3], key)
  if answer then
    local first, balance, received = string.match(answer, '^(.*)=(-?%d+)/(-?%d+)$')
    if first ~= content then return { 'conflict' } end
    return { 'replayed', balance, received }
  end
end

local home, recipientHome = bringHome(KEYS[1], member), bringHome(KEYS[1], recipient)
local held = redis.call('HGET', home, member)
local recipientHeld = redis.call('HGET', recipientHome, recipient)
if not held then return { 'unknown-member' } end
if not recipientHeld then return { 'unknown-recipient' } end
local given = tonumber(held) - tokens
local received = tonumber(recipientHeld) + tokens
if given < 0 then return { 'too-small', held } end
if received > POINTS_MAX then return { 'out-of-range', recipientHeld } end

local now = nowMs()
redis.call('HINCRBY', home, member, '-' .. ARGV[3])
redis.call('HINCRBY', recipientHome, recipient, ARGV[3])
if key ~= '' then
  local answer = content .. '=' .. digits(given) .. '/' .. digits(received)
  keepAnswer(KEYS[2], KEYS[3], key, answer, now, tonumber(ARGV[6]), tonumber(ARGV[7]))
end
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[8], '*', 'op', 'transfer', 'member', member,
  'recipient', recipient, 'tokens', ARGV[3], 'key', key, 'request', ARGV[5], 'balance', digits(given))
bringOthersHome(KEYS[1])
bringOthersHome(KEYS[5])
return { 'applied', digits(given), digits(received) }
