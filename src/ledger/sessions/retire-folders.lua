--[==[
  Data folders are not waited for any more: a person says that they do not come back, or that nothing in them is missed. Only
  those that were not heard of for so long, that no registered session has, and that nobody has looked at meanwhile.

  KEYS[1] the realm
  ARGV[1] last heard of before this time, ms  ARGV[2] the store for which that was decided (see isSameStore)

  Returns {'changed'} | {'retired', ids…}
]==]
--- @include "record"
--- @include "fence"
--- @include "data-folders"
local T = KEYS[1]
if not isSameStore(T, ARGV[2]) then return { 'changed' } end
local retired = { 'retired' }
local folders = redis.call('HGETALL', T .. ':dataFolders')
for i = 1, #folders, 2 do
  local id, folder = folders[i], folders[i + 1]
  local isLooked = redis.call('HGET', T .. ':looks', id) == serverRun()
  if cjson.decode(folder).at < tonumber(ARGV[1]) and not isLooked and not hasSession(T, id) then
    redis.call('HDEL', T .. ':dataFolders', id)
    retired[#retired + 1] = id
  end
end
return retired
