--[==[
  A batch whose archive was written and read back becomes `archived`: nothing moves in it any more, and its
  rows may leave the store. Only as it was when it was written: any move since then refuses.

  KEYS[1] the realm
  ARGV[1] batch no  ARGV[2] version it was written at  ARGV[3] sha-256 of the file
  ARGV[4] a bit for each index whose order was not paid ('' where all were)
  ARGV[5] JSON [[index, '<no>:<index>' of the order that stands in for it], …]

    B:unpaid, B:replaced   the same: what is still asked of an archived order without its file (see debt)

  Returns 'ok' | 'moved' | 'importing' (the rest of a recovered batch is being imported) | the state it is in
]==]
--- @include "record"
--- @include "move"
local T, no, writtenAt, sha, unpaid, replacedJson = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local B = batchKey(T, no)
local state, version, recovered, importer = unpack(redis.call('HMGET', B, 'state', 'version', 'recovered', 'importer'), 1, 4)
if state ~= 'done' and state ~= 'cancelled' then return state or 'gone' end
-- What the import holds would be spent for good, and its seal would let an archive go on.
if recovered and importer then return 'importing' end
if (version or '0') ~= writtenAt then return 'moved' end
for _, code in ipairs({ 's', 'u', 'D' }) do
  if countOf(T, no, code) > 0 then return 'moved' end
end
if unpaid ~= '' then redis.call('SET', B .. ':unpaid', unpaid) end
for _, one in ipairs(cjson.decode(replacedJson)) do redis.call('HSET', B .. ':replaced', unpack(one)) end
redis.call('HSET', B, 'state', 'archived', 'ended', state, 'archive', sha)
-- What stands in an archive cannot be retried.
redis.call('HDEL', B, 'retry', 'retriesBy')
redis.call('UNLINK', B .. ':retry', B .. ':retries', B .. ':retriedBy')
if recovered then redis.call('HSET', B, 'members', redis.call('SCARD', B .. ':members')) end
batches.touch(no)
batches.flush(T)
return 'ok'
