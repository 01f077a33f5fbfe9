--[==[
  One call for many orders. What goes wrong with one is the answer of that one: the others have moved, and
  their askers must hear it.
]==]
local function each(list, step)
  local replies = {}
  for i, order in ipairs(cjson.decode(list)) do
    local ok, reply = pcall(step, order)
    if not ok then reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) } end
    replies[i] = reply
  end
  return cjson.encode(replies)
end
