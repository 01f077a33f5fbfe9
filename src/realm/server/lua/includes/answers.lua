--[==[
  First answers by Idempotency-Key, in two generations, so that they expire without a timer or an index.
  A new key goes into the current generation. Once that is `keepMs` old or holds `max` answers, it becomes
  the previous generation, and the old previous generation is deleted. An answer is therefore kept for at
  least keepMs and at most twice as long, unless `max` newer answers push it out earlier.
  (A string with a TTL per key cannot be capped; a sorted set as index cost 100 bytes more per answer.)

  The field `#since` holds the start of the current generation. Keys are stored with a leading `=`, so that
  no key can collide with it.
]==]
local function firstAnswer(current, before, key)
  return redis.call('HGET', current, '=' .. key) or redis.call('HGET', before, '=' .. key)
end

local function keepAnswer(current, before, key, answer, nowMs, keepMs, max)
  local since = tonumber(redis.call('HGET', current, '#since') or '0')
  if since > 0 and (nowMs - since >= keepMs or redis.call('HLEN', current) > max) then
    redis.call('UNLINK', before)
    redis.call('RENAME', current, before)
    redis.call('PEXPIRE', before, keepMs)
    since = 0
  end
  if since == 0 then
    redis.call('HSET', current, '#since', string.format('%.0f', nowMs))
    redis.call('PEXPIRE', current, 2 * keepMs)
  end
  redis.call('HSET', current, '=' .. key, answer)
end
