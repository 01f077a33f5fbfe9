--[==[
  A session has merged its journal into the ledger as it stands on this server.

  KEYS[1] the realm
  ARGV[1] run_id it was merged for  ARGV[2] session  ARGV[3] highest sequence it has seen
  ARGV[4] the last epoch that it has seen ('' or 'none': none yet)  ARGV[5] sequence of the last order that it began
  ARGV[6] JSON list of the data folders in which it has looked at every journal: {id, journal, machine, sent: whether one of
    them tells of an order that was sent, fault: why the journals do not tell all that was sent, or null}
  ARGV[7] how many orders it has put back  ARGV[8] of them unknown or in doubt  ARGV[9] batches that it has recovered
  ARGV[10] how many orders it made doubts  ARGV[11] what its profile wants after a rollback: 'wait' | 'continue'

  Returns 'ok' | 'changed' (another server answers by now: merge again)
]==]
--- @include "record"
--- @include "fence"
--- @include "data-folders"
--- @include "last-recovery"
local T, run, session, seen = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local era, begun, foldersJson = ARGV[4], ARGV[5], ARGV[6]
local putBack = { ARGV[7], ARGV[8], ARGV[9], ARGV[10] }
local afterRollback = ARGV[11]
if serverRun() ~= run then return 'changed' end
local folders = cjson.decode(foldersJson)
-- Where the store does not know an epoch that was armed, it went back to before that arming. Other sessions may have sent
-- since, and must merge once more: their marks are of the past that was restored. Said once for each such epoch.
if era ~= '' and era ~= 'none' and not isEra(T, era) and redis.call('SADD', T .. ':lostEras', era) == 1 then
  redis.call('DEL', T .. ':merged', T .. ':looks')
end
redis.call('HSET', T .. ':merged', session, run)
if tonumber(begun) > 0 then rememberFolderOf(T, session) end
for _, folder in ipairs(folders) do
  if folder.fault ~= cjson.null then
    noteFault(T, folder)
  else
    if folder.sent then rememberFolder(T, folder.id, folder.journal, folder.machine) else clearFault(T, folder.id) end
    redis.call('HSET', T .. ':looks', folder.id, run)
  end
end
if afterRollback == 'wait' then redis.call('HSET', T, 'mustWait', '1') end
notePutBack(T, putBack)
if forgetsSession(T, session, begun) then redis.call('HSET', T .. ':begun', session, begun) end
local mergedSeen = math.max(tonumber(redis.call('HGET', T, 'mergedSeen') or '0'), tonumber(seen))
redis.call('HSET', T, 'mergedSeen', string.format('%d', mergedSeen))
return 'ok'
