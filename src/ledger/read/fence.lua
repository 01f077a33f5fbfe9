--[==[
  How the fence stands. Reads only.

  KEYS[1] the realm
  ARGV[1] session that asks ('' for none)

  Returns {run_id of this server, armed run_id or '', era or '', seq or '', reason JSON why it stays disarmed or '',
    note JSON of the last rollback or '', note JSON of who gave the session up or '', JSON of what is missed or '',
    sequence at which it was found, before anything was put back, identity of the data folder that the store was
    written in or '', JSON of who said that a new ledger is meant or '', sequence of the last order that the session
    began or '' where it is not registered, '1' where a backup was put back and the ledger was not opened since}
]==]
--- @include "record"
--- @include "fence"
local T, session = KEYS[1], ARGV[1]
local armed, era, seq, closedBy, rollback, missed, found, folder, meant, restored = unpack(redis.call('HMGET', T,
  'armed', 'era', 'seq', 'fenceReason', 'rollback', 'missed', 'found', 'folder', 'meant', 'restored'), 1, 10)
return { serverRun(), armed or '', era or '', seq or '', closedBy or '', rollback or '',
  redis.call('HGET', T .. ':lost', session) or '', missed or '', found or seq or '0', folder or '', meant or '',
  redis.call('HGET', T .. ':begun', session) or '', restored or '' }
