--[==[
  An order whose sender will not settle it: unknown, or a doubt where nothing can be asked. Answers whether it
  moved: only what that session is sending in that very attempt does.
]==]
local function orphanOrder(T, no, index, session, nonce, amount, detail, code, now)
  local old = readRecord(T, no, index)
  local was = old and decodeRecord(old)
  if not was or was.state ~= 's' or was.session ~= session or was.nonce ~= nonce then return false end
  local B = batchKey(T, no)
  writeRecord(T, no, index, unanswered(T, no, index, code, was, now))
  move(T, no, index, { from = 's', to = code, amount = amount, before = was, after = was })
  redis.call('RPUSH', B .. ':x:' .. index, detail)
  noteAttempt(T, no, index, was.nonce)
  if code == 'u' then
    redis.call('ZADD', B .. ':due', now, index)
  else
    undispatch(T, no, index)
    voidHeld(T, no, index, now)
    releaseHolds(T, no, index, now)
  end
  finishIfDone(T, no)
  return true
end
