--[==[
  The store was found to know all journals of these data folders. Those from which orders were sent are waited for from
  now on, also one that was retired and came back.

  KEYS[1] the realm
  ARGV[1] the store in which that was found (see isSameStore)
  ARGV[2] JSON list of those that orders were sent from: {id, journal, machine}  ARGV[3…] numbers of the folders

    T:looked   number of a data folder → the sequence at which that was found last

  Returns {'ok'} | {'changed'}
]==]
--- @include "record"
--- @include "fence"
--- @include "data-folders"
local T, store, foldersJson, looked = KEYS[1], ARGV[1], ARGV[2], ARGV
if not isSameStore(T, store) then return { 'changed' } end
local seq = redis.call('HGET', T, 'seq') or '0'
for _, folder in ipairs(cjson.decode(foldersJson)) do
  if redis.call('HEXISTS', T .. ':dataFolders', folder.id) == 0 then rememberFolder(T, folder.id, folder.journal, folder.machine) end
end
for at = 3, #looked do redis.call('HSET', T .. ':looked', looked[at], seq) end
return { 'ok' }
