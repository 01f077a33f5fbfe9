--[==[
  The UTC day of a moment, as the day's sums go by it: the store's clock says when an order was sent.
  Days are counted in years that begin in March, so that a leap day is the last of its year.
]==]
local utcDay
do
  local knownDay, knownText
  function utcDay(ms)
    local days = math.floor(ms / 86400000) + 719468
    if days == knownDay then return knownText end
    local era = math.floor(days / 146097)
    local ofEra = days - era * 146097
    local year = math.floor((ofEra - math.floor(ofEra / 1460) + math.floor(ofEra / 36524) - math.floor(ofEra / 146096)) / 365)
    local ofYear = ofEra - (365 * year + math.floor(year / 4) - math.floor(year / 100))
    local march = math.floor((5 * ofYear + 2) / 153)
    local day = ofYear - math.floor((153 * march + 2) / 5) + 1
    local month = march < 10 and march + 3 or march - 9
    knownDay, knownText = days, string.format('%04d-%02d-%02d', year + era * 400 + (month <= 2 and 1 or 0), month, day)
    return knownText
  end
end

--- The day that an order's tokens were counted for: when it was sent, as its record says.
local function dayOf(fields, otherwise)
  return utcDay(tonumber(fields.sent, 36) or otherwise)
end
