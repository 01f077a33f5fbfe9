--[==[
  (After debt.) What a row says of an earlier order: that it stands in for it, or that it undoes it. One row over all files stands in
  for an order. Its mark on that order is 'r<batch no>.<row>.<take>', the row as the importer of that take counts it:
  who took an unfinished import over may count the same rows otherwise.
]==]
local REPLACEABLE = { R = true, X = true, c = true, d = true, i = true }

--- The batch whose row stands in for the order of this record, that row and the take; or nil.
local function replacedBy(fields)
  return string.match(fields.marks or '', 'r(%d+)%.?(%d*)%.?(%d*)')
end

--- Why no row may stand in for the order, or nil: 'gone' | 'archived' | 'a<ms>' (its request may arrive until then) |
--- its state | 'r<batch no>' (another row does).
local function notReplaceable(T, old, no, take)
  local oldNo, oldIndex, row, named = unpack(old, 1, 4)
  local batchState, rows, id = unpack(redis.call('HMGET', batchKey(T, oldNo), 'state', 'rows', 'id'))
  if not isRow(rows, oldIndex) then return 'gone' end
  -- Since a rollback the number may stand for another batch than the one that was named.
  if named and named ~= id then return 'gone' end
  -- An archive cannot be marked, so that nothing would keep a second file from replacing the order again.
  if batchState == 'archived' then return 'archived' end
  local record = readRecord(T, oldNo, oldIndex)
  local arrives = mayArriveUntil(T, record)
  if arrives then return 'a' .. arrives end
  local state = stateOf(record, batchState == 'cancelled')
  if not REPLACEABLE[state] then return state end
  local own = no ~= '' and redis.call('HGET', batchKey(T, no), 'id') or ''
  local payer = otherOfDebt(T, id .. '-' .. oldIndex, WAITS_OR_MAY_BE_PAID, own)
  if payer then return 'r' .. (string.match(payer, '^@([^:]+)') or placeOf(T, payer)) end
  local byNo, byRow, byTake = replacedBy(decodeRecord(record or ''))
  if not byNo then return nil end
  local other
  if no == '' then
    -- A plan. Should that import never be sealed, the order is free again; the put decides.
    other = redis.call('HGET', batchKey(T, byNo), 'state') ~= 'importing'
  else
    other = byNo ~= no or (byTake == take and byRow ~= row)
  end
  return other and 'r' .. byNo or nil
end

--- The conflicts of rows that stand in for orders, each {'replaces', row, no, index, why}, put behind those given.
local function judgeReplaced(T, replaces, no, take, conflicts)
  local seen = {}
  for _, old in ipairs(replaces) do
    local oldNo, oldIndex, row = unpack(old)
    local order = oldNo .. '-' .. oldIndex
    local why = seen[order] and 'r' .. no or notReplaceable(T, old, no, take)
    if why then conflicts[#conflicts + 1] = { 'replaces', row, oldNo, oldIndex, why } end
    seen[order] = true
  end
end

--- Why the order cannot be undone, or nil: 'gone' | its state. Of what is archived only its file can tell, which the
--- plan has read; it does not change any more.
local function notUndoable(T, no, index)
  local batchState, rows = unpack(redis.call('HMGET', batchKey(T, no), 'state', 'rows'))
  if not isRow(rows, index) then return 'gone' end
  if batchState == 'archived' then return nil end
  local state = stateOf(readRecord(T, no, index), batchState == 'cancelled')
  return state ~= 'P' and state or nil
end
