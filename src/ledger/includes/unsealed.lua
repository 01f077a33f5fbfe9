--- Whether an import may go on: into a batch that was begun and never sealed, or into a recovered one that is not closed.
local function isImportable(state, recovered)
  if recovered then return state ~= 'archived' and state ~= 'cancelled' end
  return state == 'importing'
end

--- The records of a plan block that was not sealed: of rows that are no orders. Those of recovered orders stay.
local function dropRecords(T, no, block)
  local B = batchKey(T, no)
  local isRecovered = redis.call('EXISTS', B .. ':rows') == 1
  for half = 0, 1 do
    local key = B .. ':o:' .. (2 * tonumber(block) + half)
    if not isRecovered then
      redis.call('DEL', key)
    else
      for _, index in ipairs(redis.call('HKEYS', key)) do
        if redis.call('HEXISTS', B .. ':rows', index) == 0 then redis.call('HDEL', key, index) end
      end
    end
  end
end
