-- Puts many people into the hand-written queue at once, as its joins would leave them.
-- KEYS: 1 waiting  2 seen (as in handrolled_join.lua)
-- ARGV: 1 arrival of the first in µs, the others follow  2... tickets
local first_us = tonumber(ARGV[1])
for i = 2, #ARGV do
  local at_us = first_us + i
  redis.call('ZADD', KEYS[1], string.format('%.0f', at_us), ARGV[i])
  redis.call('ZADD', KEYS[2], string.format('%.0f', math.floor(at_us / 1000)), ARGV[i])
end
