--[==[
  Balances are integers within +/- (2^53 - 1), so Lua's doubles hold them exactly. The sum of two balances can
  therefore be compared with the bound before it is written. HINCRBY does the arithmetic on 64 bits.
]==]
local POINTS_MAX = 9007199254740991

local function digits(number)
  return string.format('%.0f', number)
end
