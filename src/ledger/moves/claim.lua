--[==[
  Asks for a list of orders whether each may be worked on, before a slot of the pace is spent on it. Under
  read-back it also holds the order's members, both or none, without expiry; where one is held, the order
  waits in that member's list and is handed over by the move that releases it.

  KEYS[1] the realm
  ARGV[1] highest sequence seen  ARGV[2] era ('' before the first)  ARGV[3] session
  ARGV[4] sequence of the last order that it began
  ARGV[5] until when nothing is sent for the first time (quiet hours), ms
  ARGV[6], ARGV[7] as begin-sending has them
  ARGV[8] JSON list of orders, each a list of strings:
     1 batch no  2 index  3 owner (the session for its own run, else '')  4… members to hold (read-back only)

  Returns a JSON list, for each order
    ['go', 'w' | 'u', token of the hold or ''] | ['no', why, …] (see may-send) | ['error', message]
]==]
--- @include "record"
--- @include "hold"
--- @include "fence"
--- @include "each"
local T, seen, era, session, sessionBegun = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local quietUntil, ordersJson = ARGV[5], ARGV[8]

--- Holds all members of the order, or none: then it waits for the first one that is held.
local function members(batch, order)
  if #order.members == 0 then return nil end
  order.token = holdToken(T, batch.no, order.index)
  if order.token then return nil end
  local held = firstHeld(T, order.members)
  if held then
    waitFor(T, batch.no, order.index, held, order.members)
    return refuse('member-held')
  end
  order.token = takeHolds(T, batch.no, order.index, order.members)
end

local ask = { T = T, closed = function() return fencedSender(T, seen, era, session, sessionBegun) end, states = { running = true },
  quietUntil = quietUntil, members = members }

local replies = each(ordersJson, function(given)
  local no, index, owner = unpack(given, 1, 3)
  local wanted = {}
  for i = 4, #given do wanted[#wanted + 1] = given[i] end
  local record = readRecord(T, no, index)
  local code = record and string.sub(record, 1, 1) or 'w'
  ask.now, ask.owners = nowMs(), { [owner] = true }
  local order = { index = index, code = code, isResolved = code == 'u', record = record, members = wanted, token = '' }
  return whyNot(ask, batchOf(T, no), order) or { 'go', code, order.token }
end)
batches.flush(T)
return replies
