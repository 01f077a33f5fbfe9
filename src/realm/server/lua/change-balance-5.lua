--[[
  Adds to or subtracts from one member's balance, or answers again what the same Idempotency-Key got.
  Change, stored answer and the line in the books are one step: all of them happen or none.

  Input:
    KEYS[1] balances
    KEYS[2] answers, current generation
    KEYS[3] answers, generation before
    KEYS[4] applied changes (stream)
    KEYS[5] profiles

    ARGV[1] member
    ARGV[2] tokens, signed, not zero
    ARGV[3] idempotency key, or ''
    ARGV[4] request id
    ARGV[5] how long answers are kept, ms
    ARGV[6] answers in one generation at most
    ARGV[7] applied changes kept

  Output:
    { 'applied',  balance }
    { 'replayed', balance }           same key, same content: the first answer
    { 'conflict' }                    same key, other content: nothing done
    { 'unknown-member' }              nothing done
    { 'too-small', balance }          a subtraction would go below zero: nothing done
    { 'out-of-range', balance }       an addition would leave 2^53 - 1: nothing done
]]
-- @include clock
-- @include points
-- @include answers
-- @include members

local member, tokens, key = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local op = tokens > 0 and 'credit' or 'debit'
local content = op .. ' ' .. member .. ' ' .. ARGV[2]

if key ~= '' then
  local answer = firstAnswer(KEYS[2], KEYS[3], key)
  if answer then
    local first, balance = string.match(answer, '^(.*)=(-?%d+)$')
    if first ~= content then return { 'conflict' } end
    return { 'replayed', balance }
  end
end

local home = bringHome(KEYS[1], member)
local held = redis.call('HGET', home, member)
if not held then return { 'unknown-member' } end
local after = tonumber(held) + tokens
if tokens < 0 and after < 0 then return { 'too-small', held } end
if after > POINTS_MAX then return { 'out-of-range', held } end

local now = nowMs()
redis.call('HINCRBY', home, member, ARGV[2])
if key ~= '' then
  local answer = content .. '=' .. digits(after)
  keepAnswer(KEYS[2], KEYS[3], key, answer, now, tonumber(ARGV[5]), tonumber(ARGV[6]))
end
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[7], '*', 'op', op, 'member', member, 'recipient', '',
  'tokens', digits(math.abs(tokens)), 'key', key, 'request', ARGV[4], 'balance', digits(after))
bringOthersHome(KEYS[1])
bringOthersHome(KEYS[5])
return { 'applied', digits(after) }
