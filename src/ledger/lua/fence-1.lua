--[[
  How the fence stands. Reads only.

  KEYS[1] the realm

  Returns {run_id of this server, armed run_id or '', era or '', seq, reason JSON why it stays disarmed or '',
    note JSON of the last rollback or ''}
]]
--- @include "fence"
local T = KEYS[1]
local state = redis.call('HMGET', T, 'armed', 'era', 'seq', 'fenceReason', 'rollback')
return { serverRun(), state[1] or '', state[2] or '', state[3] or '0', state[4] or '', state[5] or '' }
