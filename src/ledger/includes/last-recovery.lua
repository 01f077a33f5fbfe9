--[==[
  What people are told of the last recovery. Needs `record`.

    T:recovery   forgot   '1': the store had forgotten something; else only what it had not been told yet was put right
                 since    the earliest attempt that journals knew and the store had forgotten, ms
                 orders, unknown, batches   how many orders were put back, how many of them nobody can answer for, and how many
                          batches were recovered
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
  for i, name in ipairs({ 'orders', 'unknown', 'batches' }) do
    if counts[i] ~= '0' then
      beginRecovery(T)
      redis.call('HINCRBY', T .. ':recovery', name, counts[i])
    end
  end
end
