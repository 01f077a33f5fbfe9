--- The format of a ledger, as in ledger/format.ts. One that never had a batch takes this one: a store that has lost
--- everything may hold no more than what its fence noted of that.
local FORMAT = 4

--- Whether another version has written the ledger: 'older' | 'newer', or nil.
local function otherFormat(T)
  local written, anyBatches = unpack(redis.call('HMGET', T, 'format', 'batches'))
  local format = tonumber(written or '')
  if format == FORMAT then return nil end
  if format then return format > FORMAT and 'newer' or 'older' end
  if anyBatches then return 'older' end
  redis.call('HSET', T, 'format', FORMAT)
  return nil
end
