--[==[
  The one protocol of approvals. A person asks for one, for exactly what a hash stands for; another person, who has seen the
  same, approves or rejects it; it is used once, or ends. Needs `record`.

  `kind` and `of`: 'batch' and 'retry' of a batch by its number, 'rule' of a rule by its name.

    B 'approval'         request for a batch, written by its seal or by its sender (see gate)
    B 'retry'            request for a retry of dead letters
    B:retry              index → sha1 of its record: the dead letters that the request is for
    T:rules:approvals    rule → request

  A request is JSON {hash, who, at, why, text, orders, tokens, approved: {who, at, ends}}. Without `approved` it waits.
]==]

--- Two spellings of a name are one person.
local function isSamePerson(one, other)
  return string.lower(one) == string.lower(other)
end

local function placeOf(T, kind, of)
  if kind == 'rule' then return T .. ':rules:approvals', of end
  return batchKey(T, of), kind == 'batch' and 'approval' or 'retry'
end

local function readRequest(T, kind, of)
  local json = redis.call('HGET', placeOf(T, kind, of))
  return json and cjson.decode(json) or nil
end

local function writeRequest(T, kind, of, request)
  local key, field = placeOf(T, kind, of)
  redis.call('HSET', key, field, cjson.encode(request))
end

local function dropRequest(T, kind, of)
  local key, field = placeOf(T, kind, of)
  redis.call('HDEL', key, field)
  if kind == 'retry' then redis.call('UNLINK', key .. ':retry') end
end

local function isApproved(request, now)
  return type(request.approved) == 'table' and now < request.approved.ends
end

--- The dead letters of a request for a retry, if all are as they were.
local function lettersOf(T, no)
  local found, all = {}, redis.call('HGETALL', batchKey(T, no) .. ':retry')
  for i = 1, #all, 2 do
    if redis.sha1hex(readRecord(T, no, all[i]) or '') ~= all[i + 1] then return nil end
    found[#found + 1] = all[i]
  end
  return found
end
