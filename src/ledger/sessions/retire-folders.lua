--[==[
  Data folders are not waited for any more: a person says that they do not come back, or that nothing in them is missed. Only
  those that were not heard of meanwhile, that no registered session has, and that nobody has looked at on this server.

  KEYS[1] the realm
  ARGV[1] the store for which that was decided (see isSameStore)  ARGV[2…] for each its id and when it was last heard of, ms

  Returns {'changed'} | {'retired', ids…}
]==]
--- @include "record"
--- @include "fence"
--- @include "data-folders"
local T, store, folders = KEYS[1], ARGV[1], ARGV
if not isSameStore(T, store) then return { 'changed' } end
local retired = { 'retired' }
for i = 2, #folders - 1, 2 do
  local id, heardAt = folders[i], tonumber(folders[i + 1])
  local folder = redis.call('HGET', T .. ':dataFolders', id)
  local isLooked = redis.call('HGET', T .. ':looks', id) == serverRun()
  if folder and cjson.decode(folder).at <= heardAt and not isLooked and not hasSession(T, id) then
    redis.call('HDEL', T .. ':dataFolders', id)
    retired[#retired + 1] = id
  end
end
return retired
