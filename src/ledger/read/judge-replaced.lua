--[==[
  Which of these orders no row may stand in for, and why. Reads only: a plan asks it, and the put of the block asks the
  same again.

  KEYS[1] the realm
  ARGV[1] JSON [[no, index, row], …]

  Returns JSON [['replaces', row, no, index, why], …]: see includes/earlier.lua
]==]
--- @include "record"
--- @include "row"
--- @include "reference"
--- @include "second"
--- @include "debt"
--- @include "earlier"
local T, replacesJson = KEYS[1], ARGV[1]
local conflicts = {}
judgeReplaced(T, cjson.decode(replacesJson), '', '', conflicts)
return #conflicts == 0 and '[]' or cjson.encode(conflicts)
