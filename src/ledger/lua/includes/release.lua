--[[
  Releases the members that an order holds and hands each on to the first order that waits for it. The
  order handed over is due at once; its own claim takes the hold.
]]
local function releaseMembers(T, no, index, members, now)
  local order = no .. ':' .. index
  local next = {}
  for _, member in ipairs(members) do
    if redis.call('GET', T .. ':hold:' .. member) == order then
      redis.call('DEL', T .. ':hold:' .. member)
    end
    local waiting = redis.call('LPOP', T .. ':wait:' .. member)
    if waiting then
      local waitingNo, waitingIndex = string.match(waiting, '^(%d+):(%d+)$')
      redis.call('SREM', T .. ':b:' .. waitingNo .. ':waiting', waitingIndex)
      redis.call('ZADD', T .. ':b:' .. waitingNo .. ':due', now, waitingIndex)
      next[#next + 1] = waiting
    end
  end
  return next
end
