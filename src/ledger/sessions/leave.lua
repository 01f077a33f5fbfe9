--[==[
  A session ends in order. It leaves the registry only while the ledger knows all it did: one that leaves a
  store which was restarted or rolled back under it has not merged, and must still be waited for. One that never
  began anything is not waited for. But other journals in its folder may know what the store has forgotten: where it
  leaves a closed ledger that it has not merged into, its folder is waited for in its place.

  KEYS[1] the realm
  ARGV[1] session  ARGV[2] highest sequence seen  ARGV[3] era  ARGV[4] '1': it never began anything, or is dead and merged
  ARGV[5] the store for which the dead one was merged ('' for one that leaves by itself)
  ARGV[6] sequence of the last order that it began, as it knows itself ('' for one that does not leave by itself)
  ARGV[7] its entry in the registry, JSON, where journals of other sessions lie in its folder ('' where none do, and for a
    dead one, whose folder was looked at)

  Returns 'left' | 'stays'
]==]
--- @include "record"
--- @include "fence"
--- @include "data-folders"
local T, session, seen, era, isIdle = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local store, begun, entryJson = ARGV[5], ARGV[6], ARGV[7]
if not isSameStore(T, store) then return 'stays' end
if not isIdle and (fenced(T, seen, era) or forgetsSession(T, session, begun)) then return 'stays' end
--- The store may have gone back since it merged, also to before it was registered.
local function leavesUnmerged()
  local knowsEra = era ~= '' and era ~= 'none'
  if not isUnmerged(T) and not (knowsEra and fenced(T, seen, era)) then return false end
  return redis.call('HGET', T .. ':merged', session) ~= serverRun()
end
if entryJson ~= '' and leavesUnmerged() then
  local own = cjson.decode(entryJson)
  -- Nothing could say that a folder without an identity comes back.
  if own.placeId == '' then return 'stays' end
  rememberFolder(T, own.placeId, own.journal, own.machine)
  redis.call('HDEL', T .. ':looks', own.placeId)
end
local entry = redis.call('HGET', T .. ':sessions', session)
leaveLimits(T, session, begun == '0')
for _, name in ipairs({ ':sessions', ':begun', ':joined', ':seen', ':merged' }) do
  redis.call('HDEL', T .. name, session)
end
noteLimits(T)
entry = entry and cjson.decode(entry)
if entry and entry.placeId and redis.call('HEXISTS', T .. ':dataFolders', entry.placeId) == 1 then
  -- An ephemeral folder is gone with its process. Only a session that knows this very ledger as open can say that nothing in
  -- the folder is missing here; one that never looked, or whose store went back since, cannot.
  local isKnown = store == '' and era ~= '' and era ~= 'none' and not fenced(T, seen, era)
  if entry.ephemeral and isKnown and not hasSession(T, entry.placeId) then redis.call('HDEL', T .. ':dataFolders', entry.placeId)
  elseif store == '' then rememberFolder(T, entry.placeId, entry.journal, entry.machine) end
end
-- For people: since when no worker is there. Whoever else comes and goes works nothing but its own.
if entry and entry.kind == 'worker' then redis.call('HSET', T, 'leftAt', nowMs()) end
return 'left'
