--[==[
  Scripts that make a record where none was have only the caller's word that the row exists. A row that no
  batch has would be counted and never be found again.
]==]
local function isRow(rows, index)
  return rows and string.find(index, '^[1-9]%d*$') and tonumber(index) <= tonumber(rows)
end
