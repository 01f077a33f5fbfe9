--[==[
  Finds the batch of these orders, or begins one. A batch that was begun and never sealed is taken over:
  its blocks are written again by the new importer, and the old one's calls fail from here on. A recovered batch is
  imported into in the same way, beside the orders that it has.

  KEYS[1] the realm
  ARGV[1] content hash  ARGV[2] wanted id  ARGV[3] importer (nonce)  ARGV[4] createdAt
  ARGV[5] where its process is, JSON, or ''
  ARGV[6] '1': takes an import over to take it back, also one into a recovered batch that was cancelled; begins nothing

  Returns {status, no, id}: 'new' | 'taken-over' | 'sealed' (exists: nothing to import) | 'gone' (nothing to take back) |
  'id-taken' (the wanted id names other orders) | 'older' | 'newer' (another version has written the ledger)
]==]
--- @include "record"
--- @include "format"
--- @include "unsealed"
local T, content, id, importer, createdAt = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local process, takesBack = ARGV[5], ARGV[6] == '1'
-- It orders the lists of batches, as a number.
if not string.find(createdAt, '^%d+$') or #createdAt > 15 then return redis.error_reply('ERR createdAt: not a time') end
local other = otherFormat(T)
if other then return { other, '', '' } end

local no = redis.call('HGET', T .. ':content', content)
if no then
  local B = batchKey(T, no)
  local known, state, holder, recovered = unpack(redis.call('HMGET', B, 'id', 'state', 'importer', 'recovered'), 1, 4)
  local isLeftOver = takesBack and state == 'cancelled' and holder and recovered
  if not isImportable(state, recovered) and not isLeftOver then return { 'sealed', no, known } end
  if holder == importer then return { 'new', no, known } end
  redis.call('HSET', B, 'importer', importer, 'importerAt', process)
  redis.call('HINCRBY', B, 'takes', 1)
  batches.touch(no)
  batches.flush(T)
  return { 'taken-over', no, known }
end
if takesBack then return { 'gone', '', id } end

no = redis.call('HGET', T .. ':batches', id)
if no then
  local B = batchKey(T, no)
  local state, recovered, other = unpack(redis.call('HMGET', B, 'state', 'recovered', 'content'), 1, 3)
  if not isImportable(state, recovered) or other then return { 'id-taken', no, id } end
  redis.call('HSET', B, 'importer', importer, 'importerAt', process, 'content', content, 'blocks', 0)
  redis.call('HSET', T .. ':content', content, no)
  batches.touch(no)
  batches.flush(T)
  return { 'new', no, id }
end

no = tostring(redis.call('HINCRBY', T, 'batches', 1))
batches.add(T, no, id)
redis.call('HSET', T .. ':content', content, no)
redis.call('HSET', batchKey(T, no),
  'id', id, 'state', 'importing', 'importer', importer, 'importerAt', process, 'content', content, 'createdAt', createdAt, 'blocks', 0)
batches.flush(T)
return { 'new', no, id }
