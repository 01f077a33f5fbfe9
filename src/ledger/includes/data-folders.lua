--[==[
  Data folders that are waited for: the journals of each may know what the store has forgotten, also where all its sessions
  ended in order. Needs `record`.

    T:dataFolders   id of a data folder → JSON {journal, machine, at, fault}: every folder from which an order was sent, and when
                it was last heard of. `fault`: its journals do not tell all that was sent, so that it is waited for
    T:looks     id → run_id of the server for which every journal in it was looked at; gone once the ledger is open
]==]
local function rememberFolder(T, id, journal, machine)
  if not id or id == '' or not journal then return end
  redis.call('HSET', T .. ':dataFolders', id, cjson.encode({ journal = journal, machine = machine, at = nowMs() }))
end

--- Keeps when the folder was last heard of: a person who retires it names that time.
local function noteFault(T, folder)
  local known = redis.call('HGET', T .. ':dataFolders', folder.id)
  local at = known and cjson.decode(known).at or nowMs()
  local noted = { journal = folder.journal, machine = folder.machine, at = at, fault = folder.fault }
  redis.call('HSET', T .. ':dataFolders', folder.id, cjson.encode(noted))
  redis.call('HDEL', T .. ':looks', folder.id)
end

local function clearFault(T, id)
  local known = redis.call('HGET', T .. ':dataFolders', id)
  if not known then return end
  local folder = cjson.decode(known)
  if folder.fault then rememberFolder(T, id, folder.journal, folder.machine) end
end

--- The session has sent something from its folder.
local function rememberFolderOf(T, session)
  local entry = redis.call('HGET', T .. ':sessions', session)
  if not entry then return end
  entry = cjson.decode(entry)
  rememberFolder(T, entry.placeId, entry.journal, entry.machine)
end

--- Whether a registered session keeps its journal in the folder: it is waited for itself.
local function hasSession(T, id)
  for _, entry in ipairs(redis.call('HVALS', T .. ':sessions')) do
    if cjson.decode(entry).placeId == id then return true end
  end
  return false
end

--- The folders whose journals nobody has looked at on this server.
local function foldersWaitedFor(T, run)
  local waiting = {}
  for _, id in ipairs(redis.call('HKEYS', T .. ':dataFolders')) do
    if redis.call('HGET', T .. ':looks', id) ~= run then waiting[#waiting + 1] = id end
  end
  table.sort(waiting)
  return waiting
end
