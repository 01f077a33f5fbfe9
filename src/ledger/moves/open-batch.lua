--[==[
  Finds the batch of these orders, or begins one. A batch that was begun and never sealed is taken over:
  its blocks are written again by the new importer, and the old one's calls fail from here on.

  KEYS[1] the realm
  ARGV[1] content hash  ARGV[2] wanted id  ARGV[3] importer (nonce)  ARGV[4] createdAt
  ARGV[5] content hash, ARGV[6] id, as they were before the currency was part of them ('' where they are the
  same), and ARGV[7] the currency: a sealed batch under the former ones is these orders if it was in it

  T:former   former id → no, for journals that know attempts of a batch by it (see merge.ts)

  Returns {status, no, id}: 'new' | 'taken-over' | 'sealed' (exists: nothing to import) |
  'id-taken' (the wanted id names other orders)
]==]
--- @include "record"
local T, content, id, importer, createdAt = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local former, formerId = ARGV[5], ARGV[6]

local no = redis.call('HGET', T .. ':content', content)
if not no and former ~= '' then
  local old = redis.call('HGET', T .. ':content', former)
  local manifest = old and redis.call('HGET', batchKey(T, old), 'manifest')
  if manifest and cjson.decode(manifest).currency == ARGV[7] then no = old end
end
if no then
  local B = batchKey(T, no)
  local found = redis.call('HMGET', B, 'id', 'state', 'importer')
  if found[2] ~= 'importing' then return { 'sealed', no, found[1] } end
  if found[3] == importer then return { 'new', no, found[1] } end
  redis.call('HSET', B, 'importer', importer)
  redis.call('HINCRBY', B, 'takes', 1)
  return { 'taken-over', no, found[1] }
end

if redis.call('HEXISTS', T .. ':batches', id) == 1 then
  return { 'id-taken', redis.call('HGET', T .. ':batches', id), id }
end

no = tostring(redis.call('HINCRBY', T, 'batches', 1))
redis.call('HSET', T .. ':batches', id, no)
redis.call('HSET', T .. ':content', content, no)
redis.call('HSET', batchKey(T, no),
  'id', id, 'state', 'importing', 'importer', importer, 'content', content, 'createdAt', createdAt, 'blocks', 0)
if formerId ~= '' then
  redis.call('HSET', batchKey(T, no), 'former', formerId)
  redis.call('HSETNX', T .. ':former', formerId, no)
end
return { 'new', no, id }
