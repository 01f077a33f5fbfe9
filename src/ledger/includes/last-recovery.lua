--[==[
  What people are told of the last recovery. The numbers are of one recovery: they add up until the ledger opens, and the next
  recovery begins at nothing. A restored backup brings the story of an earlier recovery with it, so that restore begins a new
  one (sessions/after-rollback.ts). Needs `record`.

    T:recovery   forgot   '1': the store had forgotten something; else only what it had not been told yet was put right
                 since    since when the store had forgotten everything, ms: the time of the backup, or of the earliest attempt
                          that journals knew and the store had forgotten
                 orders, unknown, batches, doubts   how many orders were put back, of how many of them the outcome is not known,
                          how many batches were recovered, and how many of the unknown orders are doubts
                 at       when the ledger opened again; a recovery that begins later is another one
]==]
local function beginRecovery(T)
  if redis.call('HEXISTS', T .. ':recovery', 'at') == 1 then redis.call('DEL', T .. ':recovery') end
end

local function noteForgotten(T, since)
  beginRecovery(T)
  redis.call('HSET', T .. ':recovery', 'forgot', '1')
  local known = tonumber(redis.call('HGET', T .. ':recovery', 'since') or '')
  if since ~= '' and (not known or tonumber(since) < known) then redis.call('HSET', T .. ':recovery', 'since', since) end
end

local function notePutBack(T, counts)
  for i, name in ipairs({ 'orders', 'unknown', 'batches', 'doubts' }) do
    if counts[i] ~= '0' then
      beginRecovery(T)
      redis.call('HINCRBY', T .. ':recovery', name, counts[i])
    end
  end
end
